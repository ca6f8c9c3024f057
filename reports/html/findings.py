"""A finding as the page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from generators.program import Case, CaseError
from harness.bisection.search import Bisected
from harness.corpus import ISSUE, SCRIPT, Culprit, Entry
from harness.differential import described_on
from harness.errors import headline
from harness.finding import Finding
from harness.outcome import DESCRIPTIONS, Verdict
from harness.outputs import Output
from harness.releases import by_age
from reports.attribution_text import attribution_text
from reports.case_text import case_text
from reports.finding_folder import rendered
from reports.html.accepted import Accepted
from reports.html.graph import NO_PICTURE, Picture, picture
from reports.html.heat import Heat, heat
from reports.html.records import Record
from reports.html.tvmscript import conditions, tvmscript
from reports.issue import Came
from reports.pasting import About, pasted, title_of
from reports.summary import CONFIRMED

_MESSAGE_LENGTH = 6000


@dataclass(frozen=True, slots=True)
class Paste:
    """The script and the issue to be copied; ``why`` there are none, where that is so."""

    script: str = ""
    issue: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a finding beside its record.

    ``title`` and ``issue`` are a person's words for it and the upstream issue. ``releases`` maps
    TVM releases to the verdict with the fixes off and on, as far as each is known. ``regression``
    says, where it is one, on which release it passed. ``outputs`` are those of its case run again,
    ``bisected`` where it breaks. ``accepted`` says why it is no news, where it is none. ``alike``
    are releases on which it fails in the same way without the fixes, as far as that is known, and
    ``unlike`` those on which it fails in another. ``attribution``, ``culprit`` and ``paste`` are an
    export's.
    """

    title: str | None = None
    issue: str | None = None
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
        """``releases``, the oldest first, wherever each was learnt."""
        return {name: self.releases[name] for name in by_age(self.releases)}


def exported(entry: Entry, known: Known) -> Known:
    """``known`` with what ``entry``, of the corpus or of an export, says besides."""
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
    if record.attribution is None or record.outcome is None or not isinstance(entry.case, Case):
        return ""
    return attribution_text(record.attribution, entry.case, record.outcome.stage)


@dataclass(frozen=True, slots=True)
class Shown:
    """All that the page says of a finding.

    ``met`` is how many of the campaign's cases are counted to it, the first one at ``first``;
    ``seen_in`` names the earlier campaigns that have it too, and is None where there are none at
    all. ``actual`` says what happened in one line, ``message`` is all of TVM's text.
    """

    finding: Finding
    title: str
    issue: str | None
    met: int
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
    releases: Mapping[str, Mapping[str, Verdict]]
    regression: str
    paste: Paste
    accepted: Accepted | None

    @property
    def is_known(self) -> bool:
        """Whether it is no news: known, and still expected."""
        return self.accepted is not None and not self.accepted.expired

    @property
    def is_new(self) -> bool:
        """Whether nobody knew of it, where anything is known at all."""
        if self.accepted is not None:
            return self.accepted.expired
        return self.seen_in is not None and not self.seen_in

    @property
    def search(self) -> str:
        """The words that the filter looks in."""
        one = self.finding
        words = (one.fingerprint, one.case.identifier, one.verdict, one.operator, one.stage or "")
        known = self.accepted.said if self.accepted else ""
        more = (one.blamed, one.case.family, self.title, self.actual, known)
        return " ".join((*words, *more)).lower()


def shown(
    finding: Finding, record: Record, earlier: Sequence[Record] | None, known: Known
) -> Shown:
    """``finding`` of the campaign ``record``; ``earlier`` campaigns, None where nothing is known
    of any.
    """
    times = [one.began for one in record.ran if one.finding == finding.fingerprint]
    seen_in = None
    if earlier is not None:
        seen_in = tuple(
            one.name
            for one in earlier
            if any(other.fingerprint == finding.fingerprint for other in one.findings)
        )
    case, outcome = finding.case, finding.outcome
    description = described_on(outcome.release, record.description)
    title, paste = _paste(finding, description, known)
    return Shown(
        finding=finding,
        title=title,
        issue=known.issue or (known.accepted.issue if known.accepted else None),
        met=finding.count,
        first=min(times, default=None),
        last=max(times, default=None),
        seen_in=seen_in,
        confirmed=CONFIRMED[finding.confirmed],
        program=tvmscript(case.program) if isinstance(case, Case) else case_text(case),
        picture=picture(case.program) if isinstance(case, Case) else NO_PICTURE,
        conditions=conditions(case) if isinstance(case, Case) else (),
        expected=_EXPECTED.get(finding.verdict, _RUNS),
        actual=headline(outcome.message) or DESCRIPTIONS[finding.verdict],
        message=outcome.message.strip()[:_MESSAGE_LENGTH],
        heat=_heats(known.outputs),
        attribution=known.attribution,
        bisected=known.bisected,
        culprit=known.culprit,
        releases=known.by_release,
        regression=known.regression,
        paste=paste,
        accepted=known.accepted,
    )


_RUNS = "It compiles and runs, and every output is right."
_EXPECTED = {
    Verdict.UNSUPPORTED: "It compiles and runs: the program is valid.",
    Verdict.SILENT_BAIL: "LegalizeOps lowers the call, or raises an error that says why it cannot.",
    Verdict.OPAQUE_CRASH: "It compiles and runs; or an error names the operator and what is wrong.",
    Verdict.ACCEPTS_INVALID: "An error that names the operator and what is invalid.",
    Verdict.WRONG_SHAPE: "The shape that the operator's type says, and the oracles give.",
    Verdict.WRONG_DTYPE: "The dtype that the operator's type says, and the oracles give.",
    Verdict.WRONG_VALUE: "Every element within its error bound of the float64 reference.",
    Verdict.ORACLE_SPLIT: "The oracles agree with the reference within its bounds.",
}


def _heats(outputs: Sequence[Output]) -> tuple[Heat, ...]:
    """The heat maps of the outputs that are wrong, those of the smallest run that has any."""
    maps = [heat(one) for one in outputs if one.actual]
    wrong = [one for one in maps if one.outside]
    if not wrong:
        return ()
    least = min(wrong, key=lambda one: one.size).where
    return tuple(one for one in wrong if one.where == least)


def _alike(known: Known, release: str) -> bool | None:
    """Whether it failed in the same way on ``release``; None where that is not known."""
    return release in known.alike if release in known.alike | known.unlike else None


def _paste(finding: Finding, description: Mapping[str, str], known: Known) -> tuple[str, Paste]:
    """The title, and what can be pasted."""
    plain = f"{finding.operator}: {DESCRIPTIONS[finding.verdict]} ({finding.blamed})"
    if known.paste is not None:
        return known.title or plain, known.paste
    try:
        title = known.title or title_of(finding.case, finding.outcome, None, finding.blame)
    except ValueError as error:
        return known.title or plain, Paste(why=str(error))
    found = known.bisected
    culprit = None if found is None else Culprit(found.culprit, found.evidence, found.why)
    off = {
        name: Came(sides["off"], _alike(known, name))
        for name, sides in known.by_release.items()
        if "off" in sides
    }
    upstream = known.issue or (known.accepted.issue if known.accepted else None)
    about = About(description, culprit=culprit, releases=off, known=upstream)
    try:
        return title, Paste(*pasted(finding.case, finding.outcome, title, about))
    except ValueError as error:
        return title, Paste(why=str(error))
