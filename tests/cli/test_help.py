"""``--help`` and ``--version``: what they say, and how fast."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from relaxcheck import __version__
from relaxcheck.cli import SUMMARIES, load

COMMANDS = [name for panel in SUMMARIES.values() for name in panel]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "relaxcheck", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
        timeout=60,
    )


def test_help_lists_every_module_of_the_commands() -> None:
    folder = Path(__file__).resolve().parents[2] / "relaxcheck" / "cli" / "commands"
    alone = {path.stem for path in folder.rglob("*.py")} - {"__init__", "causes", "kernels"}
    assert set(COMMANDS) == alone
    shown = run("--help").stdout
    for panel, commands in SUMMARIES.items():
        assert panel in shown
        for name, line in commands.items():
            assert any(text.split()[1:2] == [name] and line in text for text in shown.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does_and_how_it_ends(name: str) -> None:
    command = load(name)
    summary = command.help.split("\n\n")[0]
    assert summary.endswith(".")
    assert "Exit codes" in command.epilog
    assert not summary.startswith(("What", "Whether", "How"))


def test_help_and_version_import_no_engine() -> None:
    for arguments in (["--help"], ["--version"], []):
        code = (
            f"import sys; sys.argv[1:] = {arguments!r}\n"
            "from relaxcheck.cli import app\n"
            "try: app()\n"
            "except SystemExit: pass\n"
            "heavy = {'tvm', 'torch', 'onnxruntime', 'numpy', 'hypothesis', 'msgspec'}\n"
            "sys.exit(f'imported {heavy & set(sys.modules)}' if heavy & set(sys.modules) else 0)\n"
        )
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr


def test_the_version_is_that_of_the_package() -> None:
    assert run("--version").stdout == f"relaxcheck {__version__}\n"


def test_a_misspelt_command_is_corrected() -> None:
    ended = run("fuz")
    assert (ended.returncode, "Did you mean 'fuzz'?" in ended.stderr) == (2, True)


@pytest.mark.parametrize("name", COMMANDS)
def test_completion_is_an_option_of_the_program_alone(name: str) -> None:
    options = {option for param in load(name).params for option in param.opts}
    assert "--install-completion" not in options
    assert not any("[" in (param.metavar or "") for param in load(name).params)


@pytest.mark.parametrize(
    ("typed", "wanted", "never"),
    [
        ("relaxcheck f", {"fuzz", "families", "fixes"}, "replay"),
        ("relaxcheck fuzz --res", {"--resume"}, "--minutes"),
        ("relaxcheck known a", {"add"}, "remove"),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(
    shell: str, typed: str, wanted: set[str], never: str
) -> None:
    environment = {
        "_RELAXCHECK_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
        "_TYPER_COMPLETE_ARGS": typed,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    ended = subprocess.run(
        # As the installed command: its name is part of the variable's.
        [sys.executable, "-c", "from relaxcheck.cli import app; app(prog_name='relaxcheck')"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    suggested = set(re.findall(r"[\w-]+", ended.stdout))
    assert wanted <= suggested
    assert never not in suggested


@pytest.mark.parametrize("name", COMMANDS)
def test_a_paragraph_of_help_is_one_line_for_the_terminal_to_break(name: str) -> None:
    command = load(name)
    for text in (command.help, command.epilog):
        lines = text.splitlines()
        assert all(
            not line or not after or after.startswith(" ") for line, after in pairwise(lines)
        )
