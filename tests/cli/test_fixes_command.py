"""``relaxcheck fixes`` and ``relaxcheck fixes export``: results, files written, bad input."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions import fixes as command
from relaxcheck.fixes.framework import fix
from relaxcheck.fixes.framework.fix import Fix
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.releases import patching, surveying
from relaxcheck.harness.releases.patching import Patch, Patched
from relaxcheck.harness.releases.releases import Release, ReleaseError, own
from relaxcheck.harness.releases.surveying import Survey, Surveyed, SurveyedPart
from relaxcheck.reports import sections

RUNNER = CliRunner()


def die() -> bool:
    os.kill(os.getpid(), signal.SIGSEGV)
    return False


def fail() -> bool:
    raise KeyError("nothing")


def surveyed(name: str, need: str, *parts: SurveyedPart) -> Surveyed:
    return Surveyed(name, ("relax.add",), "it is wrong", None, need, parts)


def fix_of(question: Callable[[], bool]) -> Fix:
    return Fix("some", (), "it is wrong", None, (fix.FaultPart("one part", question),))


def test_a_probe_that_dies_counts_as_present() -> None:
    assert list(surveying.probe_parts(fix_of(lambda: False))) == [SurveyedPart("one part", False)]
    assert list(surveying.probe_parts(fix_of(die))) == [
        SurveyedPart("one part", True, signal.SIGSEGV)
    ]


def test_an_error_in_a_probe_names_the_probe() -> None:
    pattern = r"^the probe of some, one part, failed: KeyError: 'nothing'$"
    with pytest.raises(SystemExit, match=pattern):
        list(surveying.probe_parts(fix_of(fail)))


def fake(tmp_path: Path, script: str) -> Release:
    """A release whose Python interpreter is ``script``."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}")
    python.chmod(0o755)
    return Release("0.1", python)


@pytest.mark.parametrize("output", ["", '{"release": "", "tvm": "0.1", "fix'])
def test_an_incomplete_answer_is_a_one_line_error(tmp_path: Path, output: str) -> None:
    release = fake(tmp_path, f"printf '{output}'\n")
    for ask in (surveying.survey, lambda each: patching.patches(each, ())):
        with pytest.raises(
            ReleaseError, match=r"^TVM 0\.1: [\w.]+ wrote no complete result: Input"
        ):
            ask(release)


def test_a_timeout_ends_the_process_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "_SECONDS", 1)
    release = fake(tmp_path, f"sleep 100 & echo $! > {tmp_path}/child\nwait\n")
    with pytest.raises(ReleaseError, match=r"TVM 0\.1: no answer within 1 s"):
        surveying.survey(release)
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if (
            not Path(f"/proc/{child}").exists()
            or "\nState:\tZ" in Path(f"/proc/{child}/status").read_text()
        ):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child lives")


def test_the_last_line_of_a_failed_process_is_the_error() -> None:
    with pytest.raises(ReleaseError, match=r"TVM .*: No module named|TVM .*No module named"):
        surveying.run_there(own(), "harness.no_such_module")
    with pytest.raises(ReleaseError, match="releases install"):
        surveying.run_there(
            Release("0.1", Path("/no/such/python")), "relaxcheck.harness.releases.surveying"
        )


@pytest.fixture(scope="module")
def survey_here() -> Survey:
    """The survey of this release, which takes a process that asks every probe."""
    return surveying.survey(own())


def test_this_release_is_surveyed(survey_here: Survey) -> None:
    survey = survey_here
    assert survey.release == own().name
    assert len(survey.fixes) == len({each.name for each in survey.fixes}) > 10
    for each in survey.fixes:
        present = [part.present for part in each.parts]
        assert (each.need == "needed", each.need == "upstream already") == (
            all(present),
            not any(present),
        )


def test_the_table_lists_the_present_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = (
        SurveyedPart("one", True),
        SurveyedPart("two", False),
        SurveyedPart("three", True, signal.SIGSEGV),
    )
    survey = Survey("0.1", "0.1.0", (surveyed("some", "partly needed", *parts),))
    monkeypatch.setattr(command, "survey", lambda release: survey)
    ended = RUNNER.invoke(app, ["fixes"])
    assert ended.exit_code == 0
    assert "partly needed  one, three (signal 11)" in ended.output
    assert "two" not in ended.output
    decoded = json.loads(RUNNER.invoke(app, ["fixes", "--format", "json"]).output)
    assert msgspec.convert(decoded, list[Survey]) == [survey]


def test_the_table_of_a_page_is_rewritten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    parts = (SurveyedPart("one", True), SurveyedPart("two", False))
    need = Surveyed("some", ("relax.add",), "a | b", "tvm#1", "partly needed", parts, over_cpp=True)
    monkeypatch.setattr(command, "survey", lambda release: Survey("0.1", "0.1.0", (need,)))
    page = tmp_path / "page.md"
    page.write_text("# Title\n")
    for _ in range(2):
        assert RUNNER.invoke(app, ["fixes", "--out", str(page)]).exit_code == 0
    assert page.read_text() == (
        f"# Title\n\n{sections.start_of(command.COMMAND)}\n\n"
        "| fix | what was wrong | patch | TVM 0.1 |\n|---|---|---|---|\n"
        "| `some` | a \\| b (tvm#1) | above C++ | partly needed |\n\n"
        f"{sections.END}\n"
    )
    ended = RUNNER.invoke(app, ["fixes", "--out", str(page / "below"), "--format", "json"])
    assert (ended.exit_code, "--out writes Markdown" in ended.stderr) == (2, True)
    ended = RUNNER.invoke(app, ["fixes", "--out", str(page / "below")])
    assert (ended.exit_code, "cannot write to" in ended.stderr) == (2, True)


@pytest.mark.skipif(CHECKOUT is None, reason="the documentation is in the checkout")
def test_the_documentation_has_the_table_of_this_release(survey_here: Survey) -> None:
    """On each release this checks its own column; together they cover the table."""
    page = (Path(str(CHECKOUT)) / "docs" / "fixes.md").read_text()
    head, _, *rows = sections.section(page, command.COMMAND).splitlines()
    mine, _, *wanted = command.markdown([survey_here]).splitlines()
    columns, own_columns = (row.removesuffix(" |").split(" | ") for row in (head, mine))
    column = columns.index(own_columns[-1])
    shown = [row.removesuffix(" |").split(" | ") for row in rows]
    assert [" | ".join((*row[:3], row[column])) + " |" for row in shown] == wanted


def test_an_unknown_release_is_a_one_line_error() -> None:
    ended = RUNNER.invoke(app, ["fixes", "--tvm", "0.1"])
    assert ended.exit_code == 2
    assert ended.stderr.startswith("relaxcheck: no release '0.1'")
    assert ended.stderr.count("\n") == 1


def test_options_of_the_list_before_export_are_refused(tmp_path: Path) -> None:
    for options in (("--tvm", own().name), ("--format", "json"), ("--out", "page.md")):
        ended = RUNNER.invoke(app, ["fixes", *options, "export", "--to", str(tmp_path / "new")])
        assert ended.exit_code == 2
        assert "give --tvm after export" in ended.stderr
        assert not (tmp_path / "new").exists()


def test_an_unknown_fix_is_a_one_line_error(tmp_path: Path) -> None:
    ended = RUNNER.invoke(app, ["fixes", "export", "--to", str(tmp_path / "new"), "nonsense"])
    assert ended.exit_code == 2
    assert "no fix 'nonsense'; there are " in ended.stderr
    assert not (tmp_path / "new").exists()


def exported(
    monkeypatch: pytest.MonkeyPatch,
    to: Path,
    *patches: Patch,
    together: str = "",
    names: tuple[str, ...] = (),
) -> str:
    monkeypatch.setattr(command, "patches", lambda *_: Patched("0.1", patches, together))
    ended = RUNNER.invoke(app, ["fixes", "export", "--to", str(to), *names])
    assert ended.exit_code == int(any(patch.failed for patch in patches))
    return ended.output


def test_files_are_written_and_missing_patches_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = (Patch("one", "1"), Patch("two", "2", over_cpp=True), Patch("three", why="upstream"))
    lines = exported(monkeypatch, tmp_path / "a" / "b", *made, together="12").splitlines()
    written = {path.name: path.read_text() for path in (tmp_path / "a" / "b").iterdir()}
    assert written == {"one.patch": "1", "two.patch": "2", "all.patch": "12"}
    assert lines[0].endswith("one.patch")
    assert lines[1].endswith("two.patch; above C++, which it leaves as it is")
    assert lines[2] == "three: upstream"


def test_a_fix_without_a_patch_sets_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    output = exported(
        monkeypatch, tmp_path, Patch("one", why="cannot be a patch: no file", failed=True)
    )
    assert output == "one: cannot be a patch: no file\n"


def test_a_folder_that_cannot_be_created_is_a_one_line_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(command, "patches", lambda *_: Patched("0.1", (Patch("one", "1"),)))
    ended = RUNNER.invoke(app, ["fixes", "export", "--to", str(tmp_path / "file")])
    assert ended.exit_code == 2
    assert "cannot write to" in ended.stderr


def older(to: Path, *names: str) -> None:
    """Fill ``to`` with patches of an earlier export, against 0.0, and with foreign files."""
    to.mkdir()
    for name in names:
        text = f"{name}: a fault\n\nAgainst apache-tvm 0.0\n\ndiff --git a/x b/x\n"
        (to / f"{name}.patch").write_text(text)
    (to / "mine.patch").write_text("mine: my change\n\ndiff --git a/x b/x\n+Against apache-tvm 1\n")
    (to / "copy.patch").write_text((to / "one.patch").read_text())
    (to / "attention.txt").write_bytes(b"\xff")


def test_stale_patches_of_an_earlier_export_are_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    older(tmp_path / "to", "one", "two", "renamed", "all")
    made = (Patch("one", "1"), Patch("two", why="upstream already"))
    lines = exported(monkeypatch, tmp_path / "to", *made).splitlines()
    left = {path.name for path in (tmp_path / "to").iterdir()}
    assert left == {"one.patch", "mine.patch", "copy.patch", "attention.txt"}
    assert (tmp_path / "to" / "one.patch").read_text() == "1"
    assert [line.rpartition("/")[2] for line in lines[2:]] == [
        f"{name}.patch: from an earlier export, for apache-tvm 0.0; removed"
        for name in ("all", "renamed", "two")
    ]


def test_patches_of_other_fixes_stay_and_are_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    older(tmp_path / "to", "one", "two", "three", "all")
    made = (Patch("one", "1"), Patch("two", why="upstream already"))
    lines = exported(monkeypatch, tmp_path / "to", *made, names=("one", "two")).splitlines()
    notes = [line.rpartition("/")[2] for line in lines[2:]]
    assert notes == [
        "all.patch: from an earlier export, for apache-tvm 0.0; left as it is",
        "three.patch: from an earlier export, for apache-tvm 0.0; left as it is",
        "two.patch: from an earlier export, for apache-tvm 0.0; removed",
    ]
    left = {path.stem for path in (tmp_path / "to").glob("*.patch")}
    assert left == {"one", "three", "all", "mine", "copy"}


def test_one_patch_has_its_head_and_its_test() -> None:
    patched = patching.patches(own(), ("convert_layout_packed",))
    (patch,) = patched.patches
    assert patch.over_cpp
    head, _, diff = patch.text.partition("diff --git ")
    assert head.startswith("convert_layout_packed: ConvertLayout fails")
    assert "This changes no C++" in head
    assert f"Against apache-tvm {patched.tvm}" in head
    assert "b/tests/python/relax/test_convert_layout_packed.py" in diff
    assert not patched.together


def test_a_head_does_not_call_it_a_fault_in_cpp_if_nothing_is_registered() -> None:
    patched = patching.patches(own(), ("multiply_add", "tables"))
    texts = {
        patch.name: " ".join(patch.text.split("diff --git ")[0].split())
        for patch in patched.patches
    }
    assert "TVM registers no FInferMixedPrecision of relax.outer." in texts["tables"]
    assert "TVM registers no FLegalize of relax.ewise_fma." in texts["multiply_add"]
    assert not any("C++" in text for text in texts.values())
    assert not any(patch.over_cpp for patch in patched.patches)
    added = patched.patches[0].text
    assert 'register_op_attr(operator, "FLegalize"' in added
    assert "C++" not in added


def test_an_export_recognizes_its_own_files(tmp_path: Path) -> None:
    patched = patching.patches(own(), ("unlowered", "empty_permute"))
    assert patching.write(patched, tmp_path, every=False) == ()
    version = patched.tvm
    expected = [
        patching.Earlier(tmp_path / f"{name}.patch", version, True)
        for name in ("all", "empty_permute", "unlowered")
    ]
    assert list(patching.write(Patched(version, ()), tmp_path, every=True)) == expected
    assert list(tmp_path.iterdir()) == []
