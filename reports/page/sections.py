"""The sections of the page's list: findings by severity, the worst first."""

from collections.abc import Sequence
from dataclasses import dataclass

from relaxcheck.harness.outcomes.severity import MEANINGS, Severity, rank
from relaxcheck.harness.triage.causes import by_cause
from relaxcheck.reports.page.findings import Shown

_TITLES = {
    Severity.WRONG_RESULT: "Wrong results",
    Severity.CRASH: "Crashes",
    Severity.UNSUPPORTED: "Unsupported",
    None: "No verdict on TVM",
    Severity.ERROR_MESSAGE: "Error messages",
}
_KNOWN = "Known"
_OTHERS = "Others"
_UNDECIDED = "oracles that disagree, or a fault of relaxcheck's own"


@dataclass(frozen=True, slots=True)
class Row:
    """One cause: ``lead`` stands for it; ``siblings`` have it too, as in sibling operators."""

    lead: Shown
    siblings: tuple[Shown, ...]

    @property
    def findings(self) -> tuple[Shown, ...]:
        """All findings of the row."""
        return (self.lead, *self.siblings)

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators of the findings, each once."""
        return tuple(dict.fromkeys(entry.finding.operator for entry in self.findings))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The distinct verdicts."""
        return tuple(dict.fromkeys(str(entry.finding.verdict) for entry in self.findings))

    @property
    def count(self) -> int:
        """The cases of all findings."""
        return sum(entry.count for entry in self.findings)

    @property
    def search(self) -> str:
        """The text that the filter searches."""
        return " ".join(entry.search for entry in self.findings)

    @property
    def regression(self) -> str:
        """The releases between which it regressed, in words; empty if it is no regression."""
        return next((entry.regression for entry in self.findings if entry.regression), "")

    @property
    def is_new(self) -> bool:
        """True if no earlier campaign has one of the findings."""
        return any(entry.is_new for entry in self.findings)


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under one heading; ``folded`` ones are shown when the reader asks for them.

    ``counted``: the rows are among the findings of the campaign's title.
    """

    title: str
    meaning: str
    rows: tuple[Row, ...]
    folded: bool = False
    counted: bool = True

    @property
    def count(self) -> int:
        """The cases of all rows."""
        return sum(row.count for row in self.rows)


def sections(findings: Sequence[Shown], *, corpus: bool = False) -> list[Section]:
    """``findings`` by severity, known findings apart, error messages last and folded.

    Of one severity regressions come first, then what no earlier campaign had, then by how common a
    cause is. The entries of a ``corpus`` are not merged.
    """
    news = _rows([entry for entry in findings if not entry.is_known], apart=corpus)
    known = _rows([entry for entry in findings if entry.is_known], apart=corpus)
    by_severity = [
        Section(
            title if severity or not corpus else _OTHERS,
            MEANINGS[severity] if severity else "" if corpus else _UNDECIDED,
            tuple(row for row in news if row.lead.finding.severity is severity),
            folded=severity is Severity.ERROR_MESSAGE,
            counted=severity is not Severity.ERROR_MESSAGE,
        )
        for severity, title in _TITLES.items()
    ]
    listed = [section for section in by_severity if section.rows]
    messages = [section for section in listed if section.folded]
    shown = [section for section in listed if not section.folded]
    if known:
        meaning = "declared, or in an earlier campaign"
        shown.append(Section(_KNOWN, meaning, tuple(known), counted=False))
    return [*shown, *messages]


def _rows(findings: Sequence[Shown], *, apart: bool) -> list[Row]:
    shown = {entry.finding.fingerprint: entry for entry in findings}
    if apart or len(shown) < len(findings):
        rows = [Row(entry, ()) for entry in findings]
    else:
        causes = by_cause([entry.finding for entry in findings])
        together = ([shown[finding.fingerprint] for finding in cause.findings] for cause in causes)
        rows = [Row(lead, tuple(siblings)) for lead, *siblings in together]
    return sorted(rows, key=_order)


def _order(row: Row) -> tuple[object, ...]:
    lead = row.lead
    return (
        rank(lead.finding.severity),
        not row.regression,
        not row.is_new and bool(lead.seen_in),
        -row.count,
        lead.title,
        lead.finding.fingerprint,
    )
