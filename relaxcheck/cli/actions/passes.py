"""``relaxcheck passes``: prints the table of passes, or writes it as a page."""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import console, newest_campaign
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.programs.support.passes import Tally, tallies
from relaxcheck.reports.tables.passes import page, table


def passes(directories: Sequence[Path], form: ResultFormat, *, docs: bool) -> None:
    """Print the counts of the campaigns in ``directories``, or write the page.

    Raises:
        CaseError: there is no checkout to write the page to.
        JournalError: there is no campaign, or it cannot be read.
    """
    if docs and CHECKOUT is None:
        raise CaseError("--docs writes to a checkout; this relaxcheck is installed")
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
