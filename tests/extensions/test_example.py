"""The example package, installed and used from outside: nothing here imports it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.extensions.packages import distribution

ROOT = Path(__file__).resolve().parents[2]
PIPELINES = "relaxcheck_example.pipelines"

pytestmark = pytest.mark.tvm


@dataclass(frozen=True, slots=True)
class User:
    """Somebody in a ``project``, with what is installed in ``packages``."""

    packages: Path
    project: Path

    def run(self, *command: object, alone: bool = False) -> subprocess.CompletedProcess[str]:
        """Run ``python -m relaxcheck``; ``alone``: without the packages."""
        paths = [str(ROOT)] if alone else [str(self.packages), str(ROOT)]
        return subprocess.run(
            [sys.executable, "-m", "relaxcheck", *map(str, command)],
            cwd=self.project,
            # With this variable no process is a fork of one that has imported everything.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONNODEBUGRANGES": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    folder = tmp_path_factory.mktemp("user")
    sources = folder / "sources"
    shutil.copytree(ROOT / "docs" / "examples" / "extension", sources)
    made = User(folder / "packages", folder / "project")
    made.project.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wanted = ["--no-deps", "--no-build-isolation", "--target", str(made.packages), str(sources)]
    subprocess.run([*pip, *wanted], check=True, capture_output=True, text=True)
    return made


def test_a_mistake_in_a_pipeline_is_found_with_its_pass(user: User) -> None:
    common = ("--family", "relu", "--family", "sigmoid", "--workers", 1)
    ended = user.run("conform", "--pipeline", "careless", *common, "--out", "careless")
    assert (ended.returncode, ended.stderr) == (1, "")
    assert f"Worse by {PIPELINES}:careless than by default-pipeline:" in ended.stdout
    (cause,) = re.findall(r"^\d+\. (.*)", ended.stdout, re.M)
    assert re.match(r"wrong result, \d+ cases: FoldEveryRelu: nn\.relu: wrong-value at co", cause)
    replay = next(line for line in ended.stdout.splitlines() if "replay careless/cases/" in line)
    command = shlex.split(replay)[3:]
    again = user.run(*command)
    assert again.returncode == 1
    assert "verdict: wrong-value" in again.stdout
    # A case file alone imports nothing.
    refused = user.run(*command[:2], alone=True)
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert line.endswith(f"name it: --pipeline {PIPELINES}:careless")
    # The same command asks nothing again.
    once_more = user.run("conform", "--pipeline", "careless", *common, "--out", "careless")
    assert once_more.returncode == 1
    assert "results of earlier runs; --anew runs them again." in once_more.stdout


def test_a_pipeline_without_one_conforms_on_its_own_operator_too(user: User) -> None:
    ended = user.run(
        *("conform", "--pipeline", f"{PIPELINES}:folding", "--family", "relu"),
        *("--family", "softsign", "--max-cases", 12, "--workers", 1),
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.search(r"^ *12 │ right by both", ended.stdout, re.M)
    assert (user.project / "runs" / f"conform-{PIPELINES}-folding" / "yours.jsonl").is_file()


@pytest.mark.slow
def test_a_campaign_finds_the_mistake_and_exports_it(user: User) -> None:
    named = ("--pipeline", f"{PIPELINES}:careless")
    ended = user.run(
        *("fuzz", "relu", *named, "--cases", 8, "--seed", 1, "--workers", 1, "--out", "hunt")
    )
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "nn.relu gives wrong values" in ended.stdout
    assert f"replay ID --pipeline {PIPELINES}:careless" in ended.stdout
    (identifier,) = re.findall(r"^ wrong result +\d+ +(\w{8}) ", ended.stdout, re.M)
    written = user.run("export", identifier, "--as-is", "--dir", "hunt", *named, "--out", "out")
    assert (written.returncode, written.stderr) == (0, "")
    script = (user.project / "out" / "repro.py").read_text()
    assert "from relaxcheck_example.pipelines import careless as own_pipeline" in script
    issue = (user.project / "out" / "issue.md").read_text()
    assert f"needs the package of `{PIPELINES}:careless`" in issue
    variables = {**os.environ, "PYTHONPATH": str(user.packages)}
    ran = subprocess.run(
        [sys.executable, "out/repro.py"], cwd=user.project, env=variables, check=False, timeout=200
    )
    assert ran.returncode == 1
    refused = user.run("fuzz", "--resume", "hunt", "--cases", 9, alone=True)
    assert refused.returncode == 2
    assert f"name it: --pipeline {PIPELINES}:careless" in refused.stderr


def test_its_operator_is_drawn_compiled_and_judged(user: User) -> None:
    ended = user.run(
        *("fuzz", "softsign", "--cases", 16, "--seed", 1, "--workers", 1, "--out", "softsign")
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Judged 0 by two oracles, 16 by one; 0 by none" in ended.stdout
    unknown = user.run("fuzz", "softsign", "--dry-run", alone=True)
    assert unknown.returncode == 2
    assert "no family 'softsign'" in unknown.stderr


@pytest.mark.parametrize(
    ("group", "name", "value", "message"),
    [
        ("relaxcheck.operators", "w", "raising:RECORD", "importing raising raised RuntimeError"),
        pytest.param(
            "relaxcheck.operators",
            "w",
            "odd:number",
            "odd:number is a int, and is to be a relaxch",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "relaxcheck.operators",
            "exp",
            "odd:number",
            "relaxcheck has one of that name itself",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "relaxcheck.oracles.reference",
            "exp",
            "odd:register",
            "relaxcheck has one of that name itself",
            marks=pytest.mark.slow,
        ),
        ("relaxcheck.registrations", "w", "odd:register", "it raised ValueError: not today"),
        pytest.param(
            "relaxcheck.fixes",
            "w",
            "odd:number",
            "odd:number is a int, and is to be a relaxcheck.",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "relaxcheck.fixes",
            "w",
            "gone.away:FIX",
            "there is no module gone",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_broken_package_is_a_warning_for_cases_that_do_without(
    user: User, tmp_path: Path, group: str, name: str, value: str, message: str
) -> None:
    (tmp_path / "raising.py").write_text("raise RuntimeError('no')\n")
    (tmp_path / "odd.py").write_text(
        "number = 3\ndef register():\n    raise ValueError('not today')\n"
    )
    distribution(tmp_path, "wreck", {group: {name: value}})
    broken = User(tmp_path, user.project)
    ended = broken.run(
        *("fuzz", "relu", "--cases", 1, "--workers", 1, "--out", tmp_path / "campaign")
    )
    assert ended.returncode == 0
    assert "Judged 1 by two oracles" in ended.stdout
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"relaxcheck: left out: {name} of wreck 1.0 ({group}): ")
    assert message in line


@pytest.fixture(scope="module")
def wreck(user: User, tmp_path_factory: pytest.TempPathFactory) -> User:
    """The example beside a package with an operator and a fix that nobody can import."""
    folder = tmp_path_factory.mktemp("wreck")
    shutil.copytree(user.packages, folder, dirs_exist_ok=True)
    (folder / "raising.py").write_text("raise RuntimeError('no')\n")
    points = {"relaxcheck.operators": "mine.broken", "relaxcheck.fixes": "own-fix"}
    distribution(folder, "wreck", {group: {name: "raising:X"} for group, name in points.items()})
    return User(folder, user.project)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("fuzz", "--cases", 1), "mine.broken"),
        (("fuzz", "broken", "--cases", 1), "mine.broken"),
        (("conform", "--pipeline", "folding", "--max-cases", 1, "--fixes", "off"), "mine.broken"),
        (("fuzz", "relu", "--cases", 1, "--fixes", "on"), "own-fix"),
        pytest.param(("fixes",), "own-fix", marks=pytest.mark.slow),
    ],
)
def test_a_command_that_needs_the_broken_package_says_so_in_one_line(
    wreck: User, tmp_path: Path, command: tuple[str, ...], name: str
) -> None:
    out = () if command == ("fixes",) else ("--workers", 1, "--out", tmp_path / "out")
    ended = wreck.run(*command, *out)
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert f"{name} of wreck 1.0 (" in line
    assert "importing raising raised RuntimeError: no" in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("families",),
        pytest.param(("operators",), marks=pytest.mark.slow),
        ("replay", "bounds-of-a-shift"),
    ],
)
def test_a_command_that_does_not_need_the_broken_package_goes_on(
    wreck: User, command: tuple[str, ...]
) -> None:
    ended = wreck.run(*command)
    assert ended.returncode == 0
    (line,) = ended.stderr.splitlines()
    assert line.startswith("relaxcheck: left out: ")
    assert "importing raising raised RuntimeError: no" in line


def test_a_kind_of_cases_of_its_own_is_drawn_reduced_and_replayed(
    user: User, tmp_path: Path
) -> None:
    distribution(tmp_path, "sums", {"relaxcheck.kinds": {"numbers": "tests.harness.toy_kind:KIND"}})
    owner = User(tmp_path, user.project)
    out = tmp_path / "sums-campaign"
    ended = owner.run("fuzz", "lists", "--cases", 60, "--seed", 1, "--workers", 1, "--out", out)
    assert (ended.returncode, ended.stderr) == (1, "")
    (wrong,) = re.findall(r"^ wrong result +\d+ +(\w{8}) +(.*)", ended.stdout, re.M)
    assert wrong[1].startswith("sum: wrong-value: ")
    again = owner.run("replay", wrong[0], "--dir", out)
    assert (again.returncode, again.stderr) == (0, "")
    assert re.search(r"^\d+ instead of \d+$", again.stdout, re.M)
    assert "STILL FAILS" in again.stdout


@pytest.mark.slow
def test_the_doctor_lists_what_is_broken(wreck: User) -> None:
    ended = wreck.run("releases", "doctor", "0.27")
    assert ended.returncode == 1
    listed = re.findall(r"^extension that cannot be used: (\S+) of wreck", ended.stdout, re.M)
    assert sorted(listed) == ["mine.broken", "own-fix"]
