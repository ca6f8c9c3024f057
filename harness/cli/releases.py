"""``relaxcheck releases``: the TVM releases that workers can run, side by side."""

import shlex
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from generators.program import CaseError
from harness.cli.terminal import EXIT_CODES, console, one_line_errors
from harness.installing import install
from harness.releases import (
    FOLDER_VARIABLE,
    State,
    advice,
    constraints,
    folder,
    known,
    state,
    supported,
)

EPILOG = f"""Environments are in .releases of the checkout, or in the folder that ${FOLDER_VARIABLE}
names; each takes about 2 GB.

{EXIT_CODES}"""

app = typer.Typer(help="TVM releases side by side; without a command: which there are.")


@app.callback(invoke_without_command=True, epilog=EPILOG)
def releases(context: typer.Context) -> None:
    """List the releases, or make their environments (install)."""
    if context.invoked_subcommand is not None:
        return
    with one_line_errors():
        table = Table(box=None, pad_edge=False)
        for column in ("release", "state", "where"):
            table.add_column(column, no_wrap=True)
        for name in known():
            found = state(name)
            place = "" if found in (State.OWN, State.MISSING) else str(folder() / name)
            table.add_row(name, str(found), place)
        out = console()
        out.print(table)
        if not all(state(name).usable for name in known()):
            out.print("relaxcheck releases install makes what is missing.", highlight=False)


@app.command("install", epilog=EPILOG)
def install_releases(
    release: Annotated[
        list[str] | None, typer.Argument(help="Which ones (default: all that are missing).")
    ] = None,
    pip_args: Annotated[
        str,
        typer.Option(
            metavar="'ARGS…'",
            help="Further arguments for pip, e.g. '--extra-index-url URL' with PyTorch's index of "
            "CPU wheels, or '--no-index --find-links FOLDER'.",
        ),
    ] = "",
) -> None:
    """Make an environment for each release. What was interrupted goes on where it stopped."""
    with one_line_errors():
        out = console()
        try:
            pip_arguments = shlex.split(pip_args)
        except ValueError as error:
            raise CaseError(f"--pip-args: {error}") from error
        names = release or list(supported())
        for name in names:
            constraints(name)
        for name in names:
            found = state(name)
            if found.usable:
                out.print(f"TVM {name}: {found}", highlight=False)
                continue
            try:
                _install(out, name, pip_arguments)
            except KeyboardInterrupt:
                out.print(f"TVM {name}: interrupted; to go on, {advice(name)}", highlight=False)
                raise typer.Exit(130) from None


def _install(out: Console, name: str, pip_arguments: list[str]) -> None:
    if out.is_terminal:
        with out.status(f"TVM {name}") as status:
            install(
                name,
                pip_arguments,
                lambda said: status.update(escape(_line(name, said, out.width))),
            )
    else:
        install(
            name,
            pip_arguments,
            lambda said: out.print(_line(name, said, out.width), highlight=False, markup=False),
        )
    out.print(f"TVM {name}: installed in {folder() / name}", highlight=False, soft_wrap=True)


def _line(name: str, said: str, width: int) -> str:
    return f"TVM {name}: {said}"[: width - 4]
