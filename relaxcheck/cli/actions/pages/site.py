"""``relaxcheck site``: reads nights that are not kept yet, and writes the site."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from relaxcheck.cli.causes import known_causes
from relaxcheck.cli.exit_codes import BAD_INPUT, INTERRUPTED
from relaxcheck.cli.terminal import RUNS, check_writable, console, warn
from relaxcheck.cli.writing import replace_text, writing
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.journal.journal import JournalError
from relaxcheck.harness.wording import plural
from relaxcheck.reports.site.history import folders_in, kept, stamp, stamps, write, write_stamps
from relaxcheck.reports.site.night import Night, NightError, read_night
from relaxcheck.reports.site.site import INDEX, files_of
from relaxcheck.reports.site.tracking import series_of

HISTORY = "history"
"""The folder of nights, in the site's own."""


def site(places: Sequence[Path], *, out: Path, history: Path | None, title: str) -> int:
    """Write the site and print where it is; the exit code.

    Raises:
        CaseError: there is no night, or the folder cannot be written.
    """
    screen = console()
    check_writable(out)
    folder = history or out / HISTORY
    check_writable(folder)
    nights = kept(folder)
    if not places and not nights:
        places = (RUNS,)
    try:
        unread = _read(screen, folders_in(places), folder, nights)
    except KeyboardInterrupt:
        warn(f"interrupted; nights that were read are kept in {folder}")
        return INTERRUPTED
    if not nights:
        raise CaseError("no night can be read")
    series = series_of(nights.values())
    for path, text in files_of(series, title):
        replace_text(out / path, text)
    expected = sum(len(each.declared) for each in series)
    faults = sum(len(each.faults) for each in series) - expected
    besides = f" and {expected:,} declared" if expected else ""
    screen.print(
        f"{plural(len(nights), 'night')}, {plural(faults, 'fault')}{besides}: {out / INDEX}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    return BAD_INPUT if unread else 0


def _read(
    screen: Console, directories: Sequence[Path], folder: Path, nights: dict[str, Night]
) -> int:
    """Keep the nights in ``directories`` that ``folder`` lacks, and add them to ``nights``.

    Returns how many cannot be read.
    """
    known = stamps(folder)
    new = [each for each in directories if known.get(stamp(each)) not in nights]
    unread = 0
    columns = (TextColumn("reading {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, console=screen, transient=True, disable=not screen.is_terminal
    ) as progress:
        task = progress.add_task("nights", total=len(new))
        for directory in new:
            progress.update(task, description=directory.name)
            try:
                as_it_is = stamp(directory)
                night = read_night(directory, known_causes)
            except (JournalError, NightError) as error:
                warn(f"{error}; the site is without it")
                unread += 1
            else:
                nights[night.key] = night
                known[as_it_is] = night.key
                with writing(folder):
                    write(night, folder)
                    write_stamps(folder, known)
            progress.advance(task)
    return unread
