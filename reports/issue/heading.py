"""The title of a finding wherever it is listed: the same words on a terminal and on a page."""

from relaxcheck.harness.known.named import NamedCause
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import DESCRIPTIONS
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.reports.issue.pasting import title_of

_QUOTED = 20
"""Characters of a message by which a title is known to quote it."""


def heading(finding: Finding, named: NamedCause | None) -> str:
    """The title that the corpus has for ``finding``; else operators, behaviour and conditions.

    A case that no script can show gets its verdict in words, and the axes to blame.
    """
    if named is not None and named.fits:
        return named.title
    try:
        return title_of(finding.case, finding.outcome, None, finding.blame)
    except ValueError:
        return plain_heading(finding)


def plain_heading(finding: Finding) -> str:
    """The operator, its verdict in words, and the axes to blame."""
    return f"{finding.operator}: {DESCRIPTIONS[finding.verdict]} ({finding.blamed})"


def remark(finding: Finding, named: NamedCause | None) -> str:
    """Further knowledge, to follow the title: where the corpus has it, and the error.

    The error is left out where the title quotes it, or where the corpus names the cause.
    """
    known = f" ({named.link})" if named is not None else ""
    if named is not None and named.fits:
        return known
    message = headline(finding.outcome.message)
    said = message.partition(": ")[2] or message
    quoted = said[:_QUOTED] in heading(finding, named)
    return known if quoted else f"{known}: {message}"
