"""``relaxcheck merge``."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from generators.families import families
from harness.cli.running import exit_code
from harness.cli.terminal import called_as, console, one_line_errors
from harness.events import told
from harness.gaps import known_gaps
from harness.journal import FILE_NAME, Journal, JournalError, Mode
from harness.merging import merge as merged_into
from harness.merging import recount
from harness.pipelines import PIPELINES
from reports.page import write_page
from reports.results import Results, results_of
from reports.summary import campaign_summary

EPILOG = """Example:

  relaxcheck merge shard-1 shard-2 shard-3 --out runs/all

Exit codes: 0 nothing failed; 1 findings; 2 campaigns that cannot be merged; 3 a fault of
relaxcheck itself is among what they met."""


def merge(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Campaigns, or merges of some.")
    ],
    out: Annotated[Path, typer.Option(help="Where to write the merge: a new folder.")],
) -> None:
    """Merge campaigns that ran with the same versions: shards, machines, nights.

    Each case and each finding is in the merge once. In what order they are merged, or whether one
    was in it already, makes no difference. `replay --dir` looks into a merge as into a campaign.
    """
    with one_line_errors():
        gaps = known_gaps()
        merged_into(directories, out)
        known = {one.name: one for one in families(tuple(PIPELINES))}
        with Journal(out, Mode.RESUME) as journal:
            state = recount(journal, known, gaps)
            journal.write_coverage(state.cells)
            said = state.gaps.lines(gaps, datetime.now(UTC).date().isoformat())
            happened = tuple(told(journal.events(), 0))
            described = journal.description
            unended = journal.unfinished()
        results = results_of(state, described, said, (), happened, called_as())
        page = _page(out, results)
        to = console()
        to.print(campaign_summary(results))
        never = f", {unended} that never ended" if unended else ""
        to.print(
            f"{len(directories)} journals: {state.cases} cases, {state.checks} checks{never}.\n"
            f"Written to {page} and {out / FILE_NAME}",
            highlight=False,
            soft_wrap=True,
        )
        raise typer.Exit(exit_code(state))


def _page(out: Path, results: Results) -> Path:
    try:
        return write_page(out, results)
    except OSError as error:
        raise JournalError(
            f"cannot write the page to {out}: {error.strerror}; everything is in {FILE_NAME}"
        ) from error
