"""``relaxcheck merge``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from generators.families import every
from harness.cli.running import exit_code
from harness.cli.terminal import EXIT_CODES, called_as, console, one_line_errors
from harness.cli.voices import Ended, not_looked_into
from harness.differential import each_version
from harness.events import told
from harness.fates import Fate
from harness.finding import Finding
from harness.gaps import Gap, declared
from harness.journal import FILE_NAME, Journal, JournalError, Mode
from harness.known import take_declared
from harness.merging import merge as merged_into
from harness.merging import recount
from harness.pipelines import PIPELINES
from reports.page import write_page
from reports.results import results_of
from reports.summary import campaign_summary

EPILOG = f"""Example:

  relaxcheck merge shard-1 shard-2 shard-3 --out runs/all

{EXIT_CODES}"""


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
        merged_into(directories, out)
        ended = finished(out)
        to = console()
        to.print(campaign_summary(ended.results))
        if unexplained := not_looked_into(ended.state):
            to.print(unexplained, highlight=False, soft_wrap=True)
        to.print(
            f"{len(directories)} journals: {ended.state.cases} cases, "
            f"{ended.state.checks} checks.\n"
            f"Written to {ended.page} and {out / FILE_NAME}",
            highlight=False,
            soft_wrap=True,
        )
        raise typer.Exit(ended.exit_code)


def finished(
    out: Path,
    earlier: tuple[Finding, ...] = (),
    fates: Mapping[str, Fate] | None = None,
    happened: tuple[str, ...] = (),
) -> Ended:
    """Count what the merge in ``out`` holds, and write its page.

    ``fates`` says what became of the findings ``earlier``; ``happened`` what else there is to say.

    Raises:
        JournalError: the folder cannot be written.
    """
    known = declared()
    gaps = [one for one in known if isinstance(one, Gap)]
    by_name = {one.name: one for one in every(tuple(PIPELINES))}
    with Journal(out, Mode.RESUME) as journal:
        state = recount(journal, by_name, gaps)
        journal.write_coverage(state.cells)
        lines = [*happened, *told(journal.events(), 0)]
        if unended := journal.unfinished():
            lines.append(f"{unended} cases began and never ended.")
        described = journal.description
    state.known = dict(fates or {})
    take_declared(state, known, each_version(described))
    said = state.gaps.lines(known)
    earlier = tuple(one for one in earlier if one.fingerprint in state.known)
    lines = [*state.gaps.notes(known), *lines]
    results = results_of(state, described, said, earlier, tuple(lines), called_as())
    try:
        page = write_page(out, results)
    except OSError as error:
        raise JournalError(
            f"cannot write the page to {out}: {error.strerror}; everything is in {FILE_NAME}"
        ) from error
    return Ended(state, results, out, page, exit_code(state))
