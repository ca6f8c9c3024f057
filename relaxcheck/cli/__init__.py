"""The command line: ``relaxcheck fuzz`` is the module ``relaxcheck.cli.commands.fuzz``.

A command's module is imported when it is called, so that ``relaxcheck --help`` answers at once.
"""

import importlib
import re
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from relaxcheck import __version__
from relaxcheck.cli.exit_codes import EXIT_CODES

SUMMARIES = {
    "Look for failures": {
        "fuzz": "Draw programs, compile and run them with TVM, and check every result.",
        "conform": "Run the conformance suite through a pipeline of your own.",
        "report": "Write a campaign, or the corpus, as one web page.",
        "site": "Write the campaigns of many nights as one static site.",
        "merge": "Merge campaigns: shards, machines, nights.",
        "families": "List the families of programs and their axes.",
        "passes": "List the passes of Relax: which change programs, and which fail, by release.",
        "operators": "List the operators of Relax: which are drawn, checked and fixed.",
    },
    "Look into a model": {
        "model": "Find out whether TVM computes a model rightly, and which node is wrong.",
    },
    "Look into a failure": {
        "replay": "Run cases again and compare with what was recorded.",
        "reduce": "Make a failing case smaller while it fails in the same way.",
        "bisect": "Find the pass that breaks a case, and the first TVM release that fails.",
        "export": "Write a failure as a script and an issue, or as a test for TVM.",
        "known": "List, add and remove expected failures.",
    },
    "Fixes and TVM releases": {
        "fixes": "List the fixes that this TVM needs, or write them as patches for TVM.",
        "releases": "List the supported TVM releases, or install them side by side.",
        "matrix": "Run the corpus on every installed TVM release, fixes off and on.",
        "onnx": "Run ONNX's own tests of its operators through TVM's importer.",
        "torch": "Run samples of PyTorch's operators and layers through TVM's importer.",
        "claims": "Check claims about dynamic shapes on every installed TVM release.",
        "targets": "Build a program of each operator for each target, and run it where it can be.",
        "algebra": "Look into what TVM's analyzer says about integer expressions.",
    },
}
"""The commands, by panel of ``relaxcheck --help``, with the line that it shows for each."""


FOLDERS = {
    "importers": ("onnx", "torch"),
    "surveys": ("families", "operators", "passes", "targets"),
}
"""Commands whose modules are in a folder of ``commands``, by its name."""


class _Commands(TyperGroup):
    """Shows ``SUMMARIES``, and loads a command when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for panel, commands in SUMMARIES.items():
            for name, line in commands.items():
                self.add_command(TyperCommand(name, help=line, rich_help_panel=panel))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command that ``args`` call, loaded."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, None if command is None else load(str(command.name)), rest


def load(name: str) -> Any:
    """The click command ``name``. Its module's ``app`` holds it alone, or is a group of its own."""
    folder = next((f"{folder}." for folder, names in FOLDERS.items() if name in names), "")
    module = importlib.import_module(f"relaxcheck.cli.commands.{folder}{name}")
    command: Any = typer.main.get_command(module.app)
    for each in (command, *getattr(command, "commands", {}).values()):
        each.help, each.epilog = _unwrapped(each.help or ""), _unwrapped(each.epilog or "")
    return command


def _unwrapped(text: str) -> str:
    """``text`` with one line a paragraph: a terminal breaks lines at its own width.

    Indented lines, which are examples, stay.
    """
    return re.sub(r"(?<!\n)\n(?=\S)", " ", text)


app = typer.Typer(cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"relaxcheck {__version__}")
        raise typer.Exit


@app.callback(epilog=EXIT_CODES)
def relaxcheck(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version."),
    ] = False,
) -> None:
    """Find bugs in Apache TVM's Relax compiler on CPU, and apply fixes for them."""
