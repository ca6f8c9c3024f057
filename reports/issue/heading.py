"""The title of a finding wherever it is listed: the same words on a terminal and on a page."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from relaxcheck.harness.known.named import CURED, NamedCause
from relaxcheck.harness.outcomes.errors import headline, own_words
from relaxcheck.harness.outcomes.outcome import DESCRIPTIONS
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.reports.issue.pasting import title_of
from relaxcheck.reports.issue.titles import Titles

_QUOTED = 20
"""Characters of a message by which a title is known to quote it."""


def headings(findings: Iterable[Finding], named: Mapping[str, NamedCause]) -> dict[str, str]:
    """The titles of ``findings`` by fingerprint, of which no two are the same.

    ``named`` are known causes by fingerprint.
    """
    titles, listed = Titles(), {}
    for finding in findings:
        title = heading(finding, named.get(finding.fingerprint))
        # Where no script can show the case, the title names the axes to blame.
        with suppress(ValueError):
            title = titles.add(title, finding.case, finding.outcome)
        listed[finding.fingerprint] = title
    return listed


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


def remark(finding: Finding, title: str, named: NamedCause | None) -> str:
    """Further knowledge, to follow the ``title``: where the corpus has it, its cure, and the error.

    The error is left out where the title quotes it, or where the corpus names the cause.
    """
    known = f" ({named.link})" if named is not None else f" ({CURED})" if finding.cured else ""
    if named is not None and named.fits:
        return known
    message = headline(finding.outcome.message)
    words = own_words(message) or message
    quoted = words[:_QUOTED] in title
    return known if quoted else f"{known}: {message}"
