"""``relaxcheck releases``: lists and installs TVM releases."""

import shlex
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from relaxcheck.cli.exit_codes import INTERRUPTED
from relaxcheck.cli.terminal import console
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.releases import installing
from relaxcheck.harness.releases.releases import (
    State,
    advice,
    constraints,
    folder,
    known,
    state,
    supported,
)


def show() -> None:
    """Print each release, its state and where it is."""
    table = Table(box=None, pad_edge=False)
    for column in ("release", "state", "where"):
        table.add_column(column, no_wrap=True)
    for name in known():
        condition = state(name)
        place = "" if condition in (State.OWN, State.MISSING) else str(folder() / name)
        table.add_row(name, str(condition), place)
    out = console()
    out.print(table)
    if not all(state(name).usable for name in known()):
        out.print("relaxcheck releases install installs the others.", highlight=False)


def install(releases: Sequence[str] | None, pip_args: str) -> None:
    """Install ``releases``, or all that are missing.

    Raises:
        CaseError: a release is not supported, or cannot be installed.
    """
    out = console()
    try:
        pip_arguments = shlex.split(pip_args)
    except ValueError as error:
        raise CaseError(f"--pip-args: {error}") from error
    names = releases or list(supported())
    for name in names:
        constraints(name)
    for name in names:
        condition = state(name)
        if condition.usable:
            out.print(f"TVM {name}: {condition}", highlight=False)
            continue
        try:
            _install(out, name, pip_arguments)
        except KeyboardInterrupt:
            out.print(f"TVM {name}: interrupted; to continue, {advice(name)}", highlight=False)
            sys.exit(INTERRUPTED)


def _install(out: Console, name: str, pip_arguments: list[str]) -> None:
    if out.is_terminal:
        with out.status(f"TVM {name}") as status:
            installing.install(
                name,
                pip_arguments,
                lambda output: status.update(escape(_line(name, output, out.width))),
            )
    else:
        installing.install(
            name,
            pip_arguments,
            lambda output: out.print(_line(name, output, out.width), highlight=False, markup=False),
        )
    out.print(f"TVM {name}: installed in {folder() / name}", highlight=False, soft_wrap=True)


def _line(name: str, output: str, width: int) -> str:
    return f"TVM {name}: {output}"[: width - 4]
