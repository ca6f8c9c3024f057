"""``relaxcheck targets``: runs a program of each operator for each target, prints what became."""

import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

from relaxcheck.cli.actions.matrix import say_reused, shown
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import console, error_console
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.targets import LLVM, TARGETS
from relaxcheck.harness.native.toolchain import chosen_target, missing
from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.programs.support.targets import Cell, Table, merged, subjects, table
from relaxcheck.harness.releases.releases import named, own
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.tables.targets import lines, page, summary

PAGE, DATA = "targets.md", "targets.json"
"""The page and its figures, in the folder ``docs`` of a checkout."""


@dataclass(frozen=True, slots=True)
class Request:
    """The options that say what to run; None is the default."""

    operators: tuple[str, ...]
    targets: str | None
    tvm: str | None
    kept: Path
    anew: bool
    workers: int
    case_seconds: float


def targets(request: Request, form: ResultFormat, *, docs: bool) -> None:
    """Run the cases; print or write the table.

    Raises:
        CaseError: there is no such operator or target, or no checkout to write to.
        PoolError: the workers of a release do not start.
        ReleaseError: a release is not installed.
    """
    if docs and CHECKOUT is None:
        raise CaseError("--docs writes to a checkout; this relaxcheck is installed")
    names = request.targets.split(",") if request.targets else [n for n in TARGETS if n != LLVM]
    chosen = [chosen_target(name) for name in names]
    _check(request.operators, names[0])
    screen = error_console()
    for each in chosen:
        if advice := missing(each):
            screen.print(advice, highlight=False, soft_wrap=True)
    if request.anew:
        request.kept.unlink(missing_ok=True)
    kept = Kept(request.kept, Cell)
    with shown(screen) as show:
        made = table(
            request.operators,
            names,
            named(request.tvm or own().name),
            request.workers,
            Limits(seconds=request.case_seconds),
            kept,
            show,
        )
    say_reused(screen, kept, "another build of TVM, or a compiler installed since")
    if form is ResultFormat.JSON:
        sys.stdout.write(_json(made))
    else:
        for counts in summary(made):
            console().print(counts)
        for line in lines(made):
            console().print(line, highlight=False, markup=False, soft_wrap=True)
    if docs and CHECKOUT is not None:
        _write(made, CHECKOUT / "docs")


def _check(operators: tuple[str, ...], target: str) -> None:
    for name in operators:
        if not subjects([name], target):
            raise CaseError(f"no operator {name!r} with a record: relaxcheck operators lists them")


def _write(made: Table, folder: Path) -> None:
    """Write the page with the figures of ``made`` and those of the last time, where it has none."""
    data, text = folder / DATA, folder / PAGE
    if data.is_file():
        made = merged(made, msgspec.json.decode(data.read_bytes(), type=Table))
    data.write_text(_json(made))
    text.write_text(page(made, text.read_text()))
    error_console().print(f"Written to {text}", highlight=False, soft_wrap=True)


def _json(made: Table) -> str:
    return msgspec.json.format(msgspec.json.encode(made), indent=1).decode() + "\n"
