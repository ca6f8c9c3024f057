"""README, CONTRIBUTING and docs: links lead somewhere, commands exist, examples run."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from relaxcheck.cli import SUMMARIES, load
from tests.pages import BLOCK, PAGES, ROOT, blocks, commands, mentioned

COMMANDS = {name for panel in SUMMARIES.values() for name in panel}

_LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")
_PLACEHOLDER = re.compile(r"[A-Z]{2,}|…")


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def test_the_readme_is_one_page() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in _LINK.findall(BLOCK.sub("", page.read_text())):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        there = target.exists() and (not anchor or anchor in anchors(target))
        broken += [] if there else [link]
    assert not broken


def calls(page: Path, program: str) -> Iterator[list[str]]:
    """The arguments of each call of ``program`` on the page."""
    # The sentences of the changelog name commands as they were.
    in_sentences = mentioned(page) if page.name != "CHANGELOG.md" else ()
    for line in (*commands(page), *in_sentences):
        line = re.split(r" \|\| | && | > ", line)[0]
        if match := re.match(rf"(?:\.venv/bin/)?{program} (.*)", line):
            yield shlex.split(match[1], comments=True)


def options(command: Any) -> set[str]:
    return {name for param in command.params for name in (*param.opts, *param.secondary_opts)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_exists(page: Path) -> None:
    for words in calls(page, "relaxcheck"):
        name, *rest = words
        if name.startswith("--"):
            continue
        assert name in COMMANDS, words
        command = load(name)
        subcommands = getattr(command, "commands", {})
        if rest and rest[0] in subcommands:
            command = subcommands[rest.pop(0)]
        used = {match[0] for word in rest if (match := re.match(r"--[\w-]+(?=$|=)", word))}
        assert used <= {*options(command), "--help"}, words


def test_the_pages_have_commands_to_check() -> None:
    assert sum(1 for page in PAGES for _ in calls(page, "relaxcheck")) > 80


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_targets_and_tests_that_it_runs_exist(page: Path) -> None:
    for option, *rest in calls(page, "python"):
        if option == "-m" and not _PLACEHOLDER.search(rest[0]):
            assert find_spec(rest[0]), rest
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    for words in calls(page, "make"):
        assert words[0] in targets, words
    for words in calls(page, "pytest"):
        paths = [word for word in words if word.startswith("tests/")]
        assert all((ROOT / path).exists() for path in paths if not _PLACEHOLDER.search(path)), words


EXAMPLES = [page for page in PAGES if page.name != "CONTRIBUTING.md"]
EXAMPLES = [page for page in EXAMPLES if list(blocks(page, "python"))]

_SLOW = ("my-model.md",)
"""Pages whose examples check a whole model."""

SAME_EVERY_TIME = """\
import hypothesis

hypothesis.settings.register_profile("same", derandomize=True, database=None)
hypothesis.settings.load_profile("same")
"""


def test_pages_have_examples_to_run() -> None:
    assert {page.name for page in EXAMPLES} >= {"README.md", "fixes.md", "strategies.md"}


@pytest.mark.tvm
@pytest.mark.parametrize(
    "page",
    [pytest.param(each, marks=[pytest.mark.slow] * (each.name in _SLOW)) for each in EXAMPLES],
    ids=lambda page: page.name,
)
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


_HISTORY = re.compile(
    r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7}\b"
    r"|\b(?:last (?:week|month)|yesterday|a campaign of [\d,]+)\b"
    r"|\bmeasured on \d"
)
"""A commit's hash, and the words of an account of what was done once."""

GENERATED = ("claims.md", "onnx.md", "operators.md", "torch.md")
"""Pages that a command writes."""


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in ("CHANGELOG.md", *GENERATED)],
    ids=lambda page: page.name,
)
def test_history_is_in_the_changelog_alone(page: Path) -> None:
    assert not _HISTORY.findall(page.read_text().lower())
