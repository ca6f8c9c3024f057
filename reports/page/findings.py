"""A finding as the page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from relaxcheck.generators.core.case import CaseError, IllFormed, Invalid
from relaxcheck.harness.kinds import of
from relaxcheck.harness.known.corpus import ISSUE, SCRIPT, Culprit, Entry
from relaxcheck.harness.known.named import NamedCause
from relaxcheck.harness.outcomes.differential import described_on
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import DESCRIPTIONS, Verdict
from relaxcheck.harness.outcomes.output import Output
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.harness.releases.releases import by_age
from relaxcheck.harness.triage.bisection.search import Bisected
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.reports.issue.finding_folder import rendered
from relaxcheck.reports.issue.pasting import pasted
from relaxcheck.reports.issue.source_text import pass_text, source_text
from relaxcheck.reports.kinds import rendering
from relaxcheck.reports.page.accepted import Accepted
from relaxcheck.reports.page.heat import Heat, heat
from relaxcheck.reports.page.records import Record
from relaxcheck.reports.rendering import About, Came, Picture
from relaxcheck.reports.tables.summary import CONFIRMED

_MESSAGE_LENGTH = 6000


@dataclass(frozen=True, slots=True)
class Paste:
    """The script and the issue to copy; ``why`` is the reason if there are none."""

    script: str = ""
    issue: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """Further knowledge about a finding.

    * ``title`` is a person's, ``issue`` the upstream issue; ``named`` is its cause in the corpus.
    * ``releases`` maps TVM releases to the known verdicts with the fixes off and on;
      ``regression`` names the release that passed, if it is one.
    * ``outputs`` are those of its case run again; ``bisected`` is the pass that breaks it.
    * ``accepted`` is the reason why it is not new, if there is one.
    * ``alike`` are releases on which it fails in the same way without the fixes, ``unlike`` those
      on which it fails in another way.
    * ``attribution``, ``culprit`` and ``paste`` come from an export.
    """

    title: str | None = None
    issue: str | None = None
    named: NamedCause | None = None
    releases: Mapping[str, Mapping[str, Verdict]] = field(default_factory=dict)
    regression: str = ""
    outputs: tuple[Output, ...] = ()
    bisected: Bisected | None = None
    attribution: str = ""
    culprit: Culprit | None = None
    paste: Paste | None = None
    accepted: Accepted | None = None
    alike: frozenset[str] = frozenset()
    unlike: frozenset[str] = frozenset()

    @property
    def by_release(self) -> dict[str, Mapping[str, Verdict]]:
        """``releases``, the oldest first."""
        return {name: self.releases[name] for name in by_age(self.releases)}


def exported(entry: Entry, known: Known) -> Known:
    """``known`` completed by ``entry`` of the corpus or of an export."""
    record = entry.expected
    try:
        texts = rendered(entry.case, record)
        paste = Paste(texts[SCRIPT], texts[ISSUE])
    except CaseError as error:
        paste = Paste(why=str(error))
    return replace(
        known,
        title=record.title,
        issue=record.issue,
        releases={**known.releases, **record.verdicts},
        attribution=_attribution(entry),
        culprit=record.culprit,
        paste=paste,
    )


def _attribution(entry: Entry) -> str:
    record = entry.expected
    if record.attribution is None or record.outcome is None:
        return ""
    stage = record.outcome.stage
    return rendering(entry.case).attribution(entry.case, record.attribution, stage)


@dataclass(frozen=True, slots=True)
class Shown:
    """The content of a finding on the page.

    ``count`` cases of the campaign belong to it, from ``first`` to ``last``. ``seen_in`` names the
    earlier campaigns that have it too; None: there are no earlier campaigns. ``actual`` is one
    line, ``message`` the whole text of TVM. ``source`` is a sentence on the lines of TVM's sources
    behind it, ``culprit_file`` the file of the pass at fault.
    """

    finding: Finding
    title: str
    issue: str | None
    named: NamedCause | None
    count: int
    first: datetime | None
    last: datetime | None
    seen_in: tuple[str, ...] | None
    confirmed: str
    program: str
    picture: Picture
    conditions: tuple[tuple[str, str], ...]
    expected: str
    actual: str
    message: str
    heat: tuple[Heat, ...]
    attribution: str
    bisected: Bisected | None
    culprit: Culprit | None
    culprit_file: str
    source: str
    releases: Mapping[str, Mapping[str, Verdict]]
    regression: str
    paste: Paste
    accepted: Accepted | None

    @property
    def is_known(self) -> bool:
        """True if it is known and still expected."""
        return self.accepted is not None and not self.accepted.expired

    @property
    def can_name_pass(self) -> bool:
        """True if a bisection may name a pass: none is to run on what is invalid."""
        case = self.finding.case
        invalid = isinstance(case.expect, Invalid | IllFormed)
        return of(case).has_passes and not invalid

    @property
    def is_new(self) -> bool:
        """True if it is known from nowhere, provided there is something to compare with."""
        if self.accepted is not None:
            return self.accepted.expired
        return self.seen_in is not None and not self.seen_in

    @property
    def search(self) -> str:
        """The text that the filter searches."""
        finding = self.finding
        words = (
            finding.fingerprint,
            finding.case.identifier,
            finding.verdict,
            finding.operator,
            finding.stage or "",
        )
        known = self.accepted.text if self.accepted else ""
        more = (finding.blamed, finding.case.family, self.title, self.actual, known)
        return " ".join((*words, *more)).lower()


def shown(
    finding: Finding, record: Record, earlier: Sequence[Record] | None, known: Known, heading: str
) -> Shown:
    """``finding`` of the campaign ``record``; ``earlier`` is None if there are no campaigns.

    ``heading`` is its title, unless a person wrote another one.
    """
    times = record.times.get(finding.fingerprint)
    seen_in = None
    if earlier is not None:
        seen_in = tuple(
            campaign.name
            for campaign in earlier
            if any(other.fingerprint == finding.fingerprint for other in campaign.findings)
        )
    case, outcome = finding.case, finding.outcome
    description = described_on(outcome.release, record.description)
    title = known.title or heading
    paste = known.paste or _paste(finding, description, known, title)
    rendered_as = rendering(case)
    version = description.get("apache-tvm", "")
    blamed = known.culprit.name if known.culprit is not None else None
    if known.bisected is not None:
        blamed = known.bisected.culprit
    return Shown(
        finding=finding,
        title=title,
        issue=_upstream(known),
        named=known.named,
        count=finding.count,
        first=times and times[0],
        last=times and times[1],
        seen_in=seen_in,
        confirmed=CONFIRMED[finding.confirmed],
        program=rendered_as.listing(case),
        picture=rendered_as.picture(case),
        conditions=rendered_as.conditions(case),
        expected=_expected(finding),
        actual=headline(outcome.message) or DESCRIPTIONS[finding.verdict],
        message=outcome.message.strip()[:_MESSAGE_LENGTH],
        heat=_heats(known.outputs),
        attribution=known.attribution,
        bisected=known.bisected,
        culprit=known.culprit,
        culprit_file=pass_text(blamed, version),
        source=source_text(outcome, of(case).operators(case), blamed, version),
        releases=known.by_release,
        regression=known.regression,
        paste=paste,
        accepted=known.accepted,
    )


_RUNS = "It compiles and runs, and every output is right."
_EXPECTED = {
    Verdict.UNSUPPORTED: "It compiles and runs: the program is valid.",
    Verdict.SILENT_BAIL: "LegalizeOps lowers the call, or raises an error that says why it cannot.",
    Verdict.OPAQUE_CRASH: "It compiles and runs, or an error says what is not supported.",
    Verdict.BROKEN_MODULE: "The module is well formed, and passes the other checks, as before.",
    Verdict.WRONG_SHAPE: "The shape that the operator's type says, and the oracles give.",
    Verdict.WRONG_DTYPE: "The dtype that the operator's type says, and the oracles give.",
    Verdict.WRONG_VALUE: "Every element within its error bound of the float64 reference.",
    Verdict.ORACLE_SPLIT: "The oracles agree with the reference within its bounds.",
}


_REFUSED = "The program is invalid: an error says so before it runs, and what is wrong with it."


def _expected(finding: Finding) -> str:
    expect = finding.case.expect
    if isinstance(expect, Invalid):
        return _REFUSED
    if isinstance(expect, IllFormed) and finding.severity is Severity.ERROR_MESSAGE:
        return f"The program is ill-formed: an error names {expect.symbols[0]}, which is undefined."
    return _EXPECTED.get(finding.verdict, _RUNS)


def _heats(outputs: Sequence[Output]) -> tuple[Heat, ...]:
    """The heat maps of wrong outputs, of the smallest run that has any."""
    maps = [heat(output) for output in outputs if output.actual]
    wrong = [heat for heat in maps if heat.outside]
    if not wrong:
        return ()
    least = min(wrong, key=lambda heat: heat.size).where
    return tuple(heat for heat in wrong if heat.where == least)


def _upstream(known: Known) -> str | None:
    """The address of the upstream issue."""
    sources = (known, known.accepted, known.named)
    return next((each.issue for each in sources if each is not None and each.issue), None)


def _alike(known: Known, release: str) -> bool | None:
    """True if it failed in the same way on ``release``; None if that is not known."""
    return release in known.alike if release in known.alike | known.unlike else None


def _paste(finding: Finding, description: Mapping[str, str], known: Known, title: str) -> Paste:
    """The texts to paste."""
    bisected = known.bisected
    culprit = (
        None if bisected is None else Culprit(bisected.culprit, bisected.evidence, bisected.why)
    )
    off = {
        name: Came(sides["off"], _alike(known, name))
        for name, sides in known.by_release.items()
        if "off" in sides
    }
    about = About(description, culprit=culprit, releases=off, known=_upstream(known))
    try:
        return Paste(*pasted(finding.case, finding.outcome, title, about))
    except ValueError as error:
        return Paste(why=str(error))
