"""A wheel, installed beside a project that has folders of its own named as our rooms are."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wheel import ROOMS, ROOT, Installed, build, install

pytestmark = pytest.mark.slow

PLUGIN = """
from relaxcheck.generators.families import family
from relaxcheck.generators.core.axes import complete

def test_a_program_conforms(conformance):
    from relaxcheck.harness.compiling.pipelines import PIPELINES
    member = family("conv1d_transpose", tuple(PIPELINES))
    conformance.check(member.build(complete(member.axes, {}), 0))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(wheel, tmp_path_factory.mktemp("installed"))


def test_it_holds_each_module_once_and_nothing_outside_its_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert len(names) == len(set(names))
    held = {name for name in names if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in held} == {"relaxcheck"}
    modules = {name for name in held if name.endswith(".py") and "/data/" not in name}
    assert modules == {f"relaxcheck/{name}" for name in _modules()}
    assert "relaxcheck/py.typed" in held


def _modules() -> Iterator[str]:
    """The modules of a checkout, as paths beneath ``relaxcheck``."""
    for room in ROOMS:
        yield from (str(path.relative_to(ROOT)) for path in (ROOT / room).rglob("*.py"))
    face = ROOT / "relaxcheck"
    yield from (str(path.relative_to(face)) for path in face.glob("*.py"))
    for part in ("cli", "extensions"):
        yield from (str(path.relative_to(face)) for path in (face / part).rglob("*.py"))


def test_it_holds_the_data_that_commands_read(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("relaxcheck/data/")}
    data = ROOT / "relaxcheck" / "data"
    for path in (ROOT / "corpus").rglob("*.json"):
        assert f"relaxcheck/data/corpus/{path.relative_to(ROOT / 'corpus')}" in held
    for path in data.glob("*.txt"):
        assert f"relaxcheck/data/{path.name}" in held
    assert not any(name.endswith(".md") for name in held)


def test_the_projects_own_folders_are_what_it_imports(installed: Installed) -> None:
    code = f"import relaxcheck, {', '.join(ROOMS)}; print(*({'.OWNER, '.join(ROOMS)}.OWNER,))"
    ended = installed.run("python", "-c", code)
    assert ended.stdout == f"{' '.join(['the user'] * len(ROOMS))}\n", ended.stderr
    where = installed.run("python", "-c", "import relaxcheck; print(relaxcheck.__file__)").stdout
    assert where.startswith(str(installed.folder))


def test_commands_without_workers_work(installed: Installed) -> None:
    version = installed.run("relaxcheck", "--version")
    assert version.stdout.startswith("relaxcheck "), version.stderr
    for command in ("families", "releases", "known", "matrix --help"):
        ended = installed.run("relaxcheck", *command.split())
        assert ended.returncode == 0, ended.stderr
    assert "0.25     not installed" in installed.run("relaxcheck", "releases").stdout
    assert "gap " in installed.run("python", "-m", "relaxcheck", "known").stdout


def test_a_campaign_its_page_and_a_replay_work(installed: Installed) -> None:
    fuzz = ("fuzz", "conv1d_transpose", "--cases", "20", "--seed", "5", "--workers", "1")
    ended = installed.run("relaxcheck", *fuzz, "--out", "out")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "silent-bail" in ended.stdout
    assert installed.run("relaxcheck", "report", "out", "--no-run").returncode == 0
    assert (installed.project / "out" / "report.html").stat().st_size > 10_000
    replayed = installed.run("relaxcheck", "replay", "attention-window")
    assert replayed.returncode == 0, replayed.stderr
    assert replayed.stdout.splitlines()[-1].startswith("STILL FAILS attention-window")


def test_expected_failures_are_the_projects_own(installed: Installed) -> None:
    added = ("known", "add", "attention-window", "--name", "windows", "--expires", "2999-01-01")
    assert installed.run("relaxcheck", *added).returncode == 0
    assert (installed.project / "relaxcheck-known.json").is_file()
    listed = installed.run("relaxcheck", "known").stdout
    assert "finding windows" in listed
    assert "gap " in listed
    bundled = next(line.split()[1] for line in listed.splitlines() if line.startswith("gap "))
    refused = installed.run("relaxcheck", "known", "remove", bundled.rstrip(":"))
    assert (refused.returncode, "comes with relaxcheck" in refused.stderr) == (2, True)
    assert installed.run("relaxcheck", "known", "remove", "windows").returncode == 0


def test_the_fixes_are_installed_and_written_as_patches(installed: Installed) -> None:
    code = "from relaxcheck import fixes; fixes.install(); print(len(fixes.installed()) > 0)"
    ended = installed.run("python", "-c", code)
    assert ended.stdout == "True\n", ended.stderr
    written = installed.run("relaxcheck", "fixes", "export", "--to", "patches", "attention")
    assert written.returncode == 0, written.stderr
    patch = (installed.project / "patches" / "attention.patch").read_text()
    assert "tests/python/relax/test_attention.py" in patch


def test_strategies_draw_and_check_programs(installed: Installed) -> None:
    code = (
        "from hypothesis import given, settings\n"
        "from relaxcheck import strategies\n"
        "@settings(max_examples=3, deadline=None, database=None)\n"
        "@given(strategies.cases(operators=['add', 'nn.relu'], max_nodes=2))\n"
        "def run(case): strategies.check(case)\n"
        "run()\n"
    )
    ended = installed.run("python", "-c", code)
    assert ended.returncode == 0, ended.stderr


def test_the_pytest_plugin_works_when_asked_for_and_only_then(installed: Installed) -> None:
    (installed.project / "test_mine.py").write_text(PLUGIN)
    ended = installed.run("python", "-m", "pytest", "-q", "test_mine.py")
    assert "fixture 'conformance' not found" in ended.stdout
    ended = installed.run(
        "python", "-m", "pytest", "-q", "-p", "relaxcheck.pytest_plugin", "test_mine.py"
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "nn.conv1d_transpose: pass 1" in ended.stdout
