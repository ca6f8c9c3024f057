"""The shell recipes of README and docs: each runs as written, or is listed with a reason.

They run in a copy of the checkout, for some write into its corpus. What a reader puts in is put in:
the identifier of a finding, the name of a campaign, a short run in place of hours.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.pages import PAGES, ROOT, commands

_OTHER_RELEASES = "it needs other releases of TVM, which take minutes to install"
_HOURS = "it takes minutes to hours"

NOT_RUN = {
    "make fuzz": "it installs; tests/test_makefile.py runs its steps",
    "make test": "it runs this test",
    "python -m tests.conformance.decoder": _HOURS,
    "pytest tests/conformance/test_templates.py": "`make test` does",
    "relaxcheck replay corpus/known.json": "a minute; tests/conformance/test_known.py does",
    "relaxcheck fuzz --minutes 480 --cluster tcp://scheduler:8786 --shards 16": (
        "it needs a cluster; tests/harness/campaign/test_cluster.py starts one"
    ),
    "17 1 * * * cd /srv/relaxcheck && "
    "./nightly.sh nights 300 > nights.log 2>&1 || cat nights.log": (
        "a line for cron; tests/cli/test_nightly.py runs the script"
    ),
    'git -C TVM apply "$PWD/patches/attention.patch"': (
        "it needs TVM's repository; tests/fixes/upstream/test_export.py applies patches"
    ),
    "relaxcheck fixes --tvm 0.25": _OTHER_RELEASES,
    "relaxcheck fixes --tvm all": _OTHER_RELEASES,
    "relaxcheck fixes --tvm all --format json": _OTHER_RELEASES,
    "relaxcheck fixes --tvm all --out docs/fixes.md": _OTHER_RELEASES,
    "relaxcheck fixes export --to patches --tvm 0.26": _OTHER_RELEASES,
    "relaxcheck releases install": _OTHER_RELEASES,
    "relaxcheck releases install 0.25 --pip-args '--no-index --find-links FOLDER'": _OTHER_RELEASES,
    "relaxcheck fuzz --tvm all --minutes 20": _OTHER_RELEASES,
    "relaxcheck fuzz --tvm 0.26,0.27 --fixes both": _OTHER_RELEASES,
}

RECIPES = {
    page.name: list(commands(page))
    for page in PAGES
    if page.name not in ("CHANGELOG.md", "CONTRIBUTING.md") and list(commands(page))
}

NOT_COPIED = (".git", ".venv", ".tox", ".releases", ".*_cache", ".hypothesis", "runs", "nights")

EXPRESSIONS = "expressions.md"
FINDINGS = (0, 1)
"""Exit codes of a campaign that may find something."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the checkout with a campaign in runs/FOLDER, and two of its findings."""

    folder: Path
    worst: str
    other: str

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        programs = str(self.folder / ".venv" / "bin")
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env={
                **os.environ,
                "PATH": os.pathsep.join([programs, os.environ["PATH"]]),
                "PYTHONPATH": str(self.folder),
                "RELAXCHECK_RELEASES": str(self.folder / ".releases"),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def filled_in(self, command: str) -> str:
        """``command`` with a reader's own names, and so short that a test can run it."""
        declared = json.loads((self.folder / "corpus" / "known.json").read_text())
        shorter = (
            (r"\bID\b", self.worst),
            (r"runs/conformance/CASE\.json", "MINE.json"),
            (r"known remove NAME", f"known remove {declared[0]['name']}"),
            (r"\bFAMILY/NAME\b", "prelu/mine"),
            (r"(?<=relaxcheck fuzz)(?= --(?!resume))", " prelu"),
            (r"--minutes \d+", "--cases 4"),
            (r"(--resume runs/FOLDER)", r"\1 --cases 240"),
        )
        for pattern, text in shorter:
            command = re.sub(pattern, text, command)
        return command


def _copied(folder: Path, family: str, cases: int) -> Copy:
    shutil.copytree(
        ROOT, folder, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED, "*.egg-info")
    )
    (folder / ".venv").mkdir()
    (folder / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    copy = Copy(folder, "", "")
    draw = f"relaxcheck fuzz {family} --cases {cases} --seed 1 --format jsonl --out runs/FOLDER"
    ended = copy.run(draw)
    assert ended.returncode == 1, ended.stderr
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    found = [event for event in events if event["event"] == "finding"]
    found.sort(key=lambda event: event["severity"] == "error message")
    return Copy(folder, found[0]["case"][:8], found[-1]["case"])


def test_every_recipe_that_is_not_run_is_on_a_page() -> None:
    assert NOT_RUN.keys() <= {command for page in RECIPES.values() for command in page}


@pytest.mark.tvm
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name, page in RECIPES.items() if not NOT_RUN.keys() >= set(page)]
)
def test_the_recipes_of_a_page_run_in_order(name: str, tmp_path: Path) -> None:
    drawn = ("algebra", 800) if name == EXPRESSIONS else ("prelu", 20)
    copy = _copied(tmp_path / "checkout", *drawn)
    written = copy.run(f"relaxcheck export {copy.other} --as-is --out other")
    assert written.returncode == 0, written.stderr
    shutil.copy(copy.folder / "other" / "case.json", copy.folder / "MINE.json")
    for command in RECIPES[name]:
        if command in NOT_RUN:
            continue
        ended = copy.run(copy.filled_in(command))
        fuzzes = re.match(r"relaxcheck (fuzz|merge) ", command)
        assert ended.returncode in (FINDINGS if fuzzes else (0,)), (
            f"{command}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}"
        )
        assert "Traceback" not in ended.stderr
