"""``relaxcheck fixes``: what of TVM is cured, and where it still has to be."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from generators.program import CaseError
from harness.cli.terminal import EXIT_CODES, ResultFormat, console, one_line_errors
from harness.patching import TOGETHER, patches, write
from harness.releases import known, own, release, state
from harness.surveying import Survey, survey

EPILOG = f"""Examples:

  relaxcheck fixes

  relaxcheck fixes --tvm 0.25

  relaxcheck fixes --tvm all --format json

A probe that runs TVM decides, never a version: "needed" if every part of the fault is there,
"partly needed" if some are, "upstream already" if none is. fixes.install() puts on the first two.

{EXIT_CODES}"""

EXPORT_EPILOG = """Each NAME.patch is for git apply in a checkout of TVM, and brings what it needs
and a test with it; all.patch is all of them in one, for two do not go on top of each other. What is
around a change is read from the installed TVM; a checkout of another state may need git apply
--3way. A patch that an earlier export left in the folder and this one does not make is removed, or
only told of where fixes are named and it is none of them. "Above C++": the fault is in C++, and the
patch registers a Python function above it.

Examples:

  relaxcheck fixes export --to patches

  relaxcheck fixes export --to patches unlowered batch_matmul --tvm 0.26

Exit codes: 0 written, or upstream already; 1 a fix cannot be a patch of this release; 2 bad input,
or the release does not start; 130 interrupted."""

app = typer.Typer(help="The fixes, by release: needed, partly needed, upstream already.")


@app.callback(invoke_without_command=True, epilog=EPILOG)
def fixes(
    context: typer.Context,
    tvm: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE", help="Another release, or all that are installed (default: this)."
        ),
    ] = None,
    form: Annotated[
        ResultFormat | None,
        typer.Option(
            "--format",
            help="text, or json: an array with an object for each release, and nothing else.",
            show_default="text",
        ),
    ] = None,
) -> None:
    """List the fixes, and how much the running TVM needs each; or write them as patches."""
    with one_line_errors():
        if context.invoked_subcommand is not None:
            if tvm is not None or form is not None:
                raise CaseError("--tvm goes after export; --format is for the list alone")
            return
        names = _wanted(tvm)
        surveys = []
        for name in names:
            with _waiting(f"asking TVM {name}"):
                surveys.append(survey(release(name)))
        if form is ResultFormat.JSON:
            sys.stdout.write(msgspec.json.encode(surveys).decode() + "\n")
            return
        out = console()
        out.print(_by_release(surveys) if len(surveys) > 1 else _of_one(surveys[0]))


@app.command("export", epilog=EXPORT_EPILOG)
def export(
    to: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder to write to; it is made if need be.")
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Which fixes (default: all that are needed)."),
    ] = None,
    tvm: Annotated[
        str | None, typer.Option(metavar="RELEASE", help="Another release (default: this).")
    ] = None,
) -> None:
    """Write fixes as patches of TVM's Python sources, each with a test."""
    with one_line_errors():
        name = tvm or own().name
        with _waiting(f"reading the sources of TVM {name}"):
            found = patches(release(name), tuple(dict.fromkeys(names or ())))
        out = console()
        try:
            earlier = write(found, to, every=not names)
        except OSError as error:
            raise CaseError(f"cannot write to {to}: {error.strerror}") from error
        for one in found.patches:
            above = "; above C++, which it leaves as it is" if one.over_cpp else ""
            said = f"{to / one.name}.patch{above}" if one.text else f"{one.name}: {one.why}"
            out.print(said, markup=False, highlight=False, soft_wrap=True)
        if found.together:
            said = f"{to / TOGETHER}.patch: all of them, each helper once"
            out.print(said, markup=False, highlight=False, soft_wrap=True)
        for old in earlier:
            what = "removed" if old.removed else "left as it is"
            said = f"{old.path}: of an earlier export, against apache-tvm {old.tvm}; {what}"
            out.print(said, markup=False, highlight=False, soft_wrap=True)
        if any(one.why.startswith("cannot") for one in found.patches):
            raise typer.Exit(1)


def _wanted(tvm: str | None) -> list[str]:
    if tvm == "all":
        return [name for name in known() if state(name).usable]
    return [tvm or own().name]


@contextmanager
def _waiting(text: str) -> Iterator[None]:
    errors = Console(stderr=True)
    if errors.is_terminal:
        with errors.status(text):
            yield
    else:
        yield


def _of_one(found: Survey) -> Table:
    table = Table(title=f"TVM {found.tvm}", title_justify="left", box=None, pad_edge=False)
    for column in ("fix", "need", "parts of the fault that it has", "patch"):
        table.add_column(column, overflow="fold")
    table.add_column("issue", no_wrap=True)
    for fix in found.fixes:
        parts = ", ".join(
            f"{part.name} (signal {part.signal})" if part.signal else part.name
            for part in fix.parts
            if part.present
        )
        patch = "a pass" if fix.passes else "above C++" if fix.over_cpp else "in place"
        table.add_row(fix.name, fix.need, parts, patch, fix.issue or "")
    return table


def _by_release(surveys: list[Survey]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("fix", no_wrap=True)
    for found in surveys:
        table.add_column(f"TVM {found.release}", no_wrap=True)
    for rows in zip(*(found.fixes for found in surveys), strict=True):
        table.add_row(rows[0].name, *(fix.need for fix in rows))
    return table
