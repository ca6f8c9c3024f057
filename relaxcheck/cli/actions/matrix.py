"""``relaxcheck matrix``: runs cases on all releases, prints the table, writes the page."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from relaxcheck.cli.exit_codes import BAD_INPUT, FAULT
from relaxcheck.cli.lookup import look_up
from relaxcheck.cli.pipelines import compiled_by
from relaxcheck.cli.terminal import console
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness import kinds
from relaxcheck.harness.known.corpus import entry_folder
from relaxcheck.harness.matrix import matrix as running
from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.releases.releases import ALONE, is_alone, known, release
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.page.releases import COMMITTED
from relaxcheck.reports.tables import release_matrix

_SECONDS = 30
"""The time between two lines of progress, where there is no terminal."""


def matrix(
    cases: Sequence[Path],
    tvm: Sequence[str] | None,
    pipeline: str | None,
    out: Path | None,
    *,
    workers: int,
    case_seconds: float,
    scripts: bool,
) -> int:
    """Run ``cases``, print the table, write the page; the exit code.

    Raises:
        CaseError: a case or a release cannot be used, or the page cannot be written.
    """
    screen = console()
    found = tuple(subject for place in cases for subject in _at(place)) or running.subjects(())
    wanted = tuple(_compiled_by(subject, pipeline) for subject in found if _has(subject, pipeline))
    if len(wanted) < len(found):
        without = plural(len(found) - len(wanted), "case is", "cases are")
        screen.print(f"{without} compiled by no pipeline, and left out", highlight=False)
    releases = _releases(tvm, wanted)
    limits = Limits(seconds=case_seconds)
    with shown(screen) as show:
        results = running.run(wanted, releases, workers, limits, show)
        if scripts:
            results = running.with_scripts(results, wanted, workers, show)
    screen.print(release_matrix.table(results))
    for line in release_matrix.lines(results):
        screen.print(line, highlight=False, markup=False, soft_wrap=True)
    for name, where, cell in _faults(results):
        fault = f"a fault of relaxcheck itself: {name} on {where}: {cell.message}"
        screen.print(fault, highlight=False, markup=False, soft_wrap=True)
    complete = not any(column.missing for column in results.columns)
    if out is None and not cases and not tvm and not pipeline and complete and CHECKOUT:
        out = COMMITTED
    if out is not None:
        try:
            page = release_matrix.write(results, out)
        except OSError as error:
            raise CaseError(f"cannot write to {out}: {error.strerror}") from error
        screen.print(f"Written to {page}", highlight=False, soft_wrap=True)
    return _exit_code(results)


def _at(place: Path) -> Iterator[running.Subject]:
    """The cases in ``place``, or the one that it is the identifier of."""
    if place.exists() or entry_folder(str(place)) is not None:
        yield from running.subjects((place,))
    else:
        case = look_up(str(place), None).case
        yield running.subject_of(case.identifier, case)


def _releases(tvm: Sequence[str] | None, wanted: Sequence[running.Subject]) -> Sequence[str]:
    """The releases ``tvm``; where none is named every one that runs some of ``wanted``.

    Raises:
        CaseError: a named one runs none of them.
    """
    there = [subject.row for subject in wanted if kinds.runs_without_relax(subject.row.case)]
    if not tvm:
        return (*known(), *(ALONE if there else ()))
    for name in filter(is_alone, tvm):
        for subject in wanted if not there else ():
            kinds.check_runs_on(subject.row.case, release(name, alone=True), subject.row.name)
    return tvm


def _has(subject: running.Subject, pipeline: str | None) -> bool:
    """True if ``subject`` can be compiled by ``pipeline``; None: by its own."""
    return pipeline is None or hasattr(subject.row.case, "pipeline")


def _compiled_by(subject: running.Subject, pipeline: str | None) -> running.Subject:
    """``subject`` compiled by ``pipeline``; of another one than its own nothing is declared."""
    case = compiled_by(subject.row.case, pipeline)
    if case is subject.row.case:
        return subject
    return running.Subject(msgspec.structs.replace(subject.row, case=case))


def _exit_code(results: running.Matrix) -> int:
    if any(_faults(results)):
        return FAULT
    if all(column.missing for column in results.columns):
        return BAD_INPUT
    return int(bool(release_matrix.surprises(results) or release_matrix.disagreeing(results)))


def _faults(results: running.Matrix) -> Iterator[tuple[str, str, running.Cell]]:
    """Cells where relaxcheck itself failed: name of the row, release and side, the cell."""
    for row in results.rows:
        for name, sides in row.cells.items():
            for side, cell in sides.items():
                if cell.verdict is Verdict.HARNESS_ERROR and cell.surprises:
                    yield row.name, f"{name}, fixes {side}", cell


def say_reused(screen: Console, kept: Kept[Any], change: str) -> None:
    """Say how many results of earlier runs stand, which a ``change`` may have made wrong."""
    if kept.reused:
        screen.print(
            f"{plural(kept.reused, 'result')} of earlier runs, from {kept.path}: --anew runs them "
            f"again, with {change}, say",
            highlight=False,
            soft_wrap=True,
        )


@contextmanager
def shown(screen: Console) -> Iterator[running.Progress]:
    """A progress bar for each release; lines where there is no terminal."""
    if not screen.is_terminal:
        said = time.monotonic()

        def say(release: str, done: int, total: int) -> None:
            nonlocal said
            if done == total:
                screen.print(f"TVM {release}: {plural(total, 'run')}", highlight=False)
            elif time.monotonic() - said >= _SECONDS:
                screen.print(f"TVM {release}: {done} of {plural(total, 'run')}", highlight=False)
            else:
                return
            said = time.monotonic()

        yield say
        return
    columns = (TextColumn("TVM {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        bars = {}

        def move(release: str, done: int, total: int) -> None:
            if release not in bars:
                bars[release] = progress.add_task(release, total=total)
            progress.update(bars[release], completed=done)

        yield move
