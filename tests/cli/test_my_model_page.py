"""The page "My model is wrong": its commands run, and print what it shows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT, blocks, commands

PAGE = ROOT / "docs" / "my-model.md"
MODEL = "docs.examples.last_token:make"


def shown() -> list[str]:
    """The lines of output on the page, up to the sign for what is left out."""
    lines = [line for text in blocks(PAGE, "") for line in text.splitlines()]
    kept = [line.partition("…")[0].rstrip() for line in lines]
    return [line for line in kept if line and not line.startswith("relaxcheck ")]


def ran(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    name, *arguments = command.split()
    assert name == "relaxcheck"
    return subprocess.run(
        [sys.executable, "-m", "relaxcheck", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_the_page_has_two_commands() -> None:
    assert [line for line in commands(PAGE) if MODEL in line] == [
        f"relaxcheck model {MODEL} --out last-token",
        f"relaxcheck model {MODEL} --fixes both",
    ]


@pytest.mark.slow
@pytest.mark.tvm
def test_the_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    first, both = (line for line in commands(PAGE) if MODEL in line)
    found, cured = ran(first, tmp_path), ran(both, tmp_path)
    assert (found.returncode, cured.returncode) == (1, 0)
    printed = (found.stdout + cured.stdout).splitlines()
    missing = [line for line in shown() if not any(each.startswith(line) for each in printed)]
    assert missing == []
    folder = tmp_path / "last-token"
    for name in ("report.html", "piece.py", "issue.md"):
        assert (folder / name).stat().st_size
    script = subprocess.run([sys.executable, folder / "piece.py"], capture_output=True)
    assert script.returncode == 1
