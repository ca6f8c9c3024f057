"""``relaxcheck passes``: draws programs for passes, prints the table, or writes it as a page."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from relaxcheck.cli.exit_codes import FAULT, INTERRUPTED
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import RUNS, check_writable, console, error_console, newest_campaign
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.passes import PASSES
from relaxcheck.generators.passes.family import PREFIX
from relaxcheck.harness.campaign.drawing import WHOLE, keep_hypothesis_in
from relaxcheck.harness.campaign.fixes import Fixes
from relaxcheck.harness.campaign.interruption import Interruption
from relaxcheck.harness.campaign.options import Options, check_versions
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, Mode
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.programs.support.changing import PIPELINES, Row, Show, Wanted, changing
from relaxcheck.harness.programs.support.passes import Tally, tallies
from relaxcheck.harness.releases.releases import named, own, release
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.reports.tables.passes import page, table

_LINE_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options that say what to measure; None where one was not given."""

    changed: int
    passes: list[str]
    tvm: str | None
    every: int
    seed: int
    workers: int | None
    case_seconds: float
    out: Path | None


def measure(
    request: Request, directories: Sequence[Path], form: ResultFormat, *, docs: bool
) -> int:
    """Draw programs for each pass on each release, then do as ``passes``; the exit code.

    Raises:
        CaseError: there is no such pass, or as ``passes``; or the versions have changed.
        JournalError: what runs cannot be kept.
        PoolError: the workers of a release do not start.
        ReleaseError: a release is not installed.
    """
    _check_docs(docs)
    releases = named(request.tvm or own().name)
    wanted = Wanted(_chosen(request.passes), request.changed, request.every, request.seed)
    folder = request.out or RUNS / "passes"
    check_writable(folder)
    faults: list[str] = []
    screen = error_console()
    own_folders = [folder / name for name in releases]
    interrupted = False
    try:
        with Interruption():
            for name in releases:
                for row in _measured(request, wanted, name, folder / name, screen):
                    faults += [f"{row.tally.name} on {name}: {each}" for each in row.faults]
    except KeyboardInterrupt:
        interrupted = True
    ran = [each for each in own_folders if (each / FILE_NAME).is_file()]
    passes([*directories, *ran], form, docs=docs)
    for line in faults:
        screen.print(f"a fault of relaxcheck itself: {line}", markup=False, highlight=False)
    if interrupted:
        screen.print("Interrupted; the same command goes on.", highlight=False)
        return INTERRUPTED
    return FAULT if faults else 0


def _chosen(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name.removeprefix(PREFIX) not in PASSES:
            close = get_close_matches(name, PASSES, 1)
            hint = f"; did you mean {close[0]}?" if close else "; docs/passes.md lists them"
            raise CaseError(f"--pass {name}: it is unknown{hint}")
    return tuple(name.removeprefix(PREFIX) for name in names) or tuple(PASSES)


def _measured(
    request: Request, wanted: Wanted, name: str, folder: Path, screen: Console
) -> tuple[Row, ...]:
    """Draw and run on the release ``name``, or go on with what ``folder`` has."""
    there = (folder / FILE_NAME).is_file()
    size = request.workers or len(os.sched_getaffinity(0))
    families = tuple(PREFIX + each for each in PASSES)
    options = Options(families, PIPELINES, request.seed, Fixes.OFF, False, WHOLE, name, folder)
    with Journal(folder, Mode.RESUME if there else Mode.NEW) as journal:
        keep_hypothesis_in(folder / "hypothesis")
        screen.print(f"TVM {name}: starting workers …", highlight=False)
        limits = Limits(request.case_seconds)
        with Pool(size, limits, release=release(name)) as pool:
            check_versions(folder, journal.description, pool.environment)
            journal.describe({**options.description, **pool.environment})
            with _shown(screen, name) as show:
                return changing(wanted, pool, journal, show)


@contextmanager
def _shown(screen: Console, name: str) -> Iterator[Show]:
    """A live line on a terminal, a line every ten seconds elsewhere: the passes that ended."""
    said = time.monotonic()
    columns = (TextColumn("TVM {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task(name, total=None)

        def show(rows: Sequence[Row]) -> None:
            nonlocal said
            ended = sum(row.ended for row in rows)
            programs = sum(row.tally.programs for row in rows)
            on = next((row.tally.name for row in rows if not row.ended), "done")
            text = f"{name}: {plural(programs, 'program')}, {on}"
            progress.update(task, completed=ended, total=len(rows), description=text)
            if not screen.is_terminal and time.monotonic() - said >= _LINE_EVERY_SECONDS:
                line = f"TVM {text}; {ended} of {plural(len(rows), 'pass', 'passes')} ended"
                screen.print(line, highlight=False)
                said = time.monotonic()

        yield show


def _check_docs(docs: bool) -> None:
    if docs and CHECKOUT is None:
        raise CaseError("--docs writes to a checkout; this relaxcheck is installed")


def passes(directories: Sequence[Path], form: ResultFormat, *, docs: bool) -> None:
    """Print the counts of the campaigns in ``directories``, or write the page.

    Raises:
        CaseError: there is no checkout to write the page to.
        JournalError: there is no campaign, or it cannot be read.
    """
    _check_docs(docs)
    chosen = list(directories) or ([] if docs else [newest_campaign()])
    counted = _counted(chosen)
    if docs and CHECKOUT is not None:
        path = CHECKOUT / "docs" / "passes.md"
        path.write_text(page(counted))
        console().print(str(path))
    elif form is ResultFormat.JSON:
        rows = [
            {"release": release, **msgspec.to_builtins(row)}
            for release, own in counted.items()
            for row in own.values()
        ]
        sys.stdout.write(msgspec.json.encode(rows).decode() + "\n")
    else:
        for each in table(counted):
            console().print(each)


def _counted(directories: Sequence[Path]) -> dict[str, dict[str, Tally]]:
    columns = (TextColumn("reading cases"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console(), transient=True) as progress:
        task = progress.add_task("", total=None)
        return tallies(
            directories, lambda done, of: progress.update(task, completed=done, total=of)
        )
