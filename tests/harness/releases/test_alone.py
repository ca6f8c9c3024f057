"""TIRx alone as a release that cases without Relax run on; its interpreters are scripts."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.fixes.sym_api import root as roots
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import AnyCase, CaseError, with_fixes
from relaxcheck.generators.expressions.cases import ANALYZED, VALUE, ExpressionBatch
from relaxcheck.generators.expressions.family import family
from relaxcheck.harness import kinds
from relaxcheck.harness.campaign.drawing import WHOLE
from relaxcheck.harness.campaign.fixes import Fixes
from relaxcheck.harness.campaign.options import Options, check_without_relax
from relaxcheck.harness.releases import builds, releases
from relaxcheck.harness.releases.adding import NEEDED_ALONE, lacking
from relaxcheck.harness.releases.builds import Build
from relaxcheck.harness.releases.environment import is_alone, tvm_title
from relaxcheck.harness.releases.releases import ALONE, FOLDER_VARIABLE, Release, ReleaseError

(TIRX,) = ALONE


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def installed(place: Path) -> Release:
    python = place / TIRX / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    releases.declare_ready(TIRX)
    builds.write(place, Build("mine", sys.executable, root=roots.TIRX, version="0.1.0a9"))
    return Release(TIRX, python, root=roots.TIRX)


def case(position: str) -> AnyCase:
    own = family()
    return own.build(complete(own.axes, {"position": position}), 1)


def test_it_is_no_release_of_tvm(installed: Release) -> None:
    for names in (releases.supported(), releases.known()):
        assert TIRX not in names
    assert releases.column("tirx 0.1.0a4") is None
    assert releases.constraints(TIRX).is_file()
    with pytest.raises(ReleaseError, match="is all that is installed"):
        releases.named("all", alone=True)


def test_it_is_refused_where_relax_is_needed(installed: Release) -> None:
    for name in (TIRX, "mine"):
        assert releases.is_alone(name)
        with pytest.raises(ReleaseError, match=f"TVM {name} has no Relax, only tvm_tirx"):
            releases.release(name)
        with pytest.raises(ReleaseError, match="has no Relax"):
            releases.named(f"0.27,{name}")
        assert not releases.release(name, alone=True).has_relax
    assert releases.release(TIRX, alone=True) == installed
    assert releases.named(f"{TIRX},0.27", alone=True) == ("0.27", TIRX)
    assert not releases.is_alone("0.27")


def test_its_processes_import_it(installed: Release) -> None:
    assert releases.environment(installed)[roots.VARIABLE] == roots.TIRX
    assert roots.VARIABLE not in releases.environment(releases.own())


def test_missing_it_names_the_command() -> None:
    with pytest.raises(ReleaseError, match=r"run: relaxcheck releases install tirx$"):
        releases.release(TIRX, alone=True)
    assert not builds.is_name(TIRX)


def test_only_questions_to_the_analyzer_run_on_it(installed: Release) -> None:
    assert kinds.runs_on(case(ANALYZED), installed)
    for needs_relax, part in (
        (case(VALUE), "position value"),
        (with_fixes(case(ANALYZED), True), "the fixes"),
    ):
        assert kinds.runs_on(needs_relax, releases.own())
        with pytest.raises(CaseError, match=f"mine: {part} takes Relax, which TVM tirx has not"):
            kinds.check_runs_on(needs_relax, installed, "mine")


def options(*families: str, release: str, fixes: Fixes = Fixes.OFF) -> Options:
    return Options(families, kinds.pipelines(), 1, fixes, True, WHOLE, release, Path("out"))


def test_a_campaign_on_it_draws_questions_to_the_analyzer_alone(installed: Release) -> None:
    chosen = options("algebra", release=f"0.27 {TIRX}")
    check_without_relax(chosen)
    plan = chosen.plan(10.0, 40)
    positions = set()
    for number, drawn in zip(range(40), plan.cases(), strict=False):
        assert isinstance(drawn, ExpressionBatch), number
        positions.add(drawn.position)
    assert positions == {ANALYZED}
    plain = options("algebra", release="0.27").plan(10.0, 40)
    assert plain.families[0].axes[0].values == family().axes[0].values


def test_what_needs_relax_is_refused_in_one_line(installed: Release) -> None:
    for families in (("algebra", "add"), ("add",)):
        with pytest.raises(CaseError, match="the family algebra alone: relaxcheck fuzz algebra"):
            check_without_relax(options(*families, release=TIRX))
        check_without_relax(options(*families, release="0.27"))
    with pytest.raises(CaseError, match="TVM mine has no Relax, and there are no fixes for it"):
        check_without_relax(options("algebra", release="mine", fixes=Fixes.BOTH))


def test_commands_about_programs_refuse_it_in_one_line(installed: Release) -> None:
    for command in (
        ("fixes", "--tvm", TIRX),
        ("operators", "--tvm", TIRX),
        ("fuzz", "--tvm", f"0.27,{TIRX}"),
        ("fuzz", "algebra", "--tvm", "mine", "--fixes", "on"),
    ):
        ended = CliRunner().invoke(app, list(command))
        (line,) = ended.output.splitlines()
        assert (ended.exit_code, "has no Relax" in line) == (2, True), ended.output


def test_its_version_has_the_name_of_its_package() -> None:
    assert tvm_title({"apache-tvm": "tirx 0.1.0a4"}) == "apache-tvm-tirx 0.1.0a4"
    assert tvm_title({"apache-tvm": "0.27.0"}) == "apache-tvm 0.27.0"
    assert tvm_title({}) == ""
    assert is_alone({"apache-tvm": "tirx 0.1.0a4"})
    assert not is_alone({"apache-tvm": "0.27.0"})


def test_an_environment_of_it_needs_no_oracles() -> None:
    there = dict.fromkeys(NEEDED_ALONE, "99")
    assert lacking(there, roots.TIRX) == ()
    assert any(each.startswith("torch") for each in lacking(there))
    assert [each.partition(">")[0] for each in lacking({}, roots.TIRX)] != []
