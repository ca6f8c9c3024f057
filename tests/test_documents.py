"""README, CONTRIBUTING and docs: links lead somewhere, commands exist, examples run."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relaxcheck.cli import SUMMARIES, load

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
COMMANDS = {name for panel in SUMMARIES.values() for name in panel}

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
_LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")


def blocks(page: Path, *languages: str) -> Iterator[str]:
    for language, text in _BLOCK.findall(page.read_text()):
        if language in languages:
            yield text


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def test_the_readme_is_one_page() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in _LINK.findall(_BLOCK.sub("", page.read_text())):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        there = target.exists() and (not anchor or anchor in anchors(target))
        broken += [] if there else [link]
    assert not broken


def calls(page: Path) -> Iterator[list[str]]:
    """The calls of relaxcheck in the page's blocks of commands."""
    for text in blocks(page, "", "sh", "console"):
        for line in text.splitlines():
            line = re.split(r" {2,}#| \|\| | && | > ", line)[0]
            if match := re.match(r"(?:\.venv/bin/)?relaxcheck (\w.*)", line.strip()):
                yield shlex.split(match[1], comments=True)


def options(command: Any) -> set[str]:
    return {name for param in command.params for name in (*param.opts, *param.secondary_opts)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_exists(page: Path) -> None:
    for words in calls(page):
        name, *rest = words
        assert name in COMMANDS, words
        command = load(name)
        subcommands = getattr(command, "commands", {})
        if rest and rest[0] in subcommands:
            command = subcommands[rest.pop(0)]
        used = {match[0] for word in rest if (match := re.match(r"--[\w-]+(?=$|=)", word))}
        assert used <= {*options(command), "--help"}, words


def test_the_pages_have_commands_to_check() -> None:
    assert sum(1 for page in PAGES for _ in calls(page)) > 30


EXAMPLES = [page for page in PAGES if page.name != "CONTRIBUTING.md"]
EXAMPLES = [page for page in EXAMPLES if list(blocks(page, "python"))]

SAME_EVERY_TIME = """\
import hypothesis

hypothesis.settings.register_profile("same", derandomize=True, database=None)
hypothesis.settings.load_profile("same")
"""


def test_pages_have_examples_to_run() -> None:
    assert {page.name for page in EXAMPLES} >= {"README.md", "fixes.md", "strategies.md"}


@pytest.mark.tvm
@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run_in_order(page: Path, tmp_path: Path) -> None:
    lines = [SAME_EVERY_TIME]
    for text in blocks(page, "python"):
        tests = re.findall(r"^def (test_\w+)\(", text, re.M)
        lines += [text, *(f"{name}()" for name in tests)]
    # A file: TVMScript reads the source of what it decorates.
    script = tmp_path / "examples.py"
    script.write_text("\n".join(lines))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, str(script)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    # A result that the example shows in a comment is the one that it prints.
    shown = re.findall(r"^print\(.*#\s*([\d.]+)$", "\n".join(lines), re.M)
    assert [f"{float(line):.2f}" for line in ended.stdout.split()] == shown


_HISTORY = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7}\b")
"""A commit's hash."""


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_history_is_in_the_changelog_alone(name: str) -> None:
    assert not _HISTORY.findall((ROOT / name).read_text())
