"""``relaxcheck merge``: merges campaigns, counts them anew, and writes their page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from relaxcheck.cli.actions.campaign import exit_code
from relaxcheck.cli.causes import known_causes
from relaxcheck.cli.reporters import Ended, not_investigated
from relaxcheck.cli.terminal import called_as, console
from relaxcheck.harness import kinds
from relaxcheck.harness.campaign.declared import take_declared
from relaxcheck.harness.campaign.merging import merge as merged_into
from relaxcheck.harness.campaign.merging import recount
from relaxcheck.harness.events import summary_of
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, JournalError, Mode
from relaxcheck.harness.known.expected_failures import ExpectedFailure, declared
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.outcomes.differential import each_version
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.wording import plural
from relaxcheck.reports.tables.markdown import write_page
from relaxcheck.reports.tables.results import results_of
from relaxcheck.reports.tables.summary import campaign_summary


def merge(directories: Sequence[Path], out: Path, *, all_messages: bool) -> int:
    """Merge the campaigns into ``out`` and print the result; the exit code.

    Raises:
        CaseError: they cannot be merged.
        JournalError: one cannot be read, or ``out`` cannot be written.
    """
    merged_into(directories, out)
    ended = finished(out)
    to = console()
    to.print(campaign_summary(ended.results, all_messages=all_messages))
    if unexplained := not_investigated(ended.state):
        to.print(unexplained, highlight=False, soft_wrap=True)
    to.print(
        f"{plural(len(directories), 'journal')}: {plural(ended.state.cases, 'case')}, "
        f"{plural(ended.state.checks, 'check')}.\n"
        f"Written to {ended.page} and {out / FILE_NAME}",
        highlight=False,
        soft_wrap=True,
    )
    return ended.exit_code


def finished(
    out: Path,
    earlier: tuple[Finding, ...] = (),
    statuses: Mapping[str, FindingStatus] | None = None,
    happened: tuple[str, ...] = (),
) -> Ended:
    """Count the cases of the merge in ``out``, and write its page.

    ``statuses`` are the states of the ``earlier`` findings; ``happened`` are further lines.

    Raises:
        JournalError: the folder cannot be written.
    """
    known = declared()
    expected = [entry for entry in known if isinstance(entry, ExpectedFailure)]
    by_name = {family.name: family for family in kinds.families()}
    with Journal(out, Mode.RESUME) as journal:
        state = recount(journal, by_name, expected)
        journal.write_coverage(state.cells)
        lines = [*happened, *summary_of(journal.events(), 0)]
        if unended := journal.unfinished():
            lines.append(f"{plural(unended, 'case')} began and never ended.")
        described = journal.description
    state.known = dict(statuses or {})
    take_declared(state, known, each_version(described))
    expected_lines = state.expectations.lines(known)
    earlier = tuple(finding for finding in earlier if finding.fingerprint in state.known)
    lines = [*state.expectations.notes(known), *lines]
    named = known_causes(state.findings.values(), each_version(described))
    results = results_of(
        state, described, expected_lines, earlier, tuple(lines), called_as(), named
    )
    try:
        page = write_page(out, results)
    except OSError as error:
        raise JournalError(
            f"cannot write the page to {out}: {error.strerror}; everything is in {FILE_NAME}"
        ) from error
    return Ended(state, results, out, page, exit_code(state))
