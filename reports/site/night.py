"""A night: the part of one campaign that the site keeps.

It is a hundredth of the journal, so that a year of nights is at hand where journals are long gone.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import msgspec

from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.harness.campaign.options import FINGERPRINTS, TARGET
from relaxcheck.harness.events import Event, EventType
from relaxcheck.harness.journal.journal import DRAWN, Journal, Mode
from relaxcheck.harness.journal.journal_file import connect_to_read
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.known.named import NamedCause
from relaxcheck.harness.outcomes.differential import each_version, versions
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.harness.triage.causes import counted_causes
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.reports.issue.heading import headings

FORMAT = 1
"""The format number of the files of nights."""

_EPOCH = 2440587.5
"""The Julian day of 1970-01-01T00:00Z."""

_NAMED = 100
"""Characters of a file's name that say which night it is."""

_MESSAGE = 4000
"""Characters of a message that are kept."""


Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class NightError(CaseError):
    """A night cannot be read or kept; the message is one line."""


class Seen(msgspec.Struct, frozen=True):
    """A finding as a night saw it; ``count`` is its number of cases, ``case`` its smallest.

    ``declared`` is the corpus entry or the declared failure that expected it, empty if none did.
    """

    fingerprint: str
    title: str
    family: str
    operator: str
    verdict: str
    severity: Severity | None
    fixes: bool
    count: int
    blamed: str
    message: str
    confirmed: bool | None
    cured: bool | None
    releases: Mapping[str, str]
    case: msgspec.Raw
    declared: str = ""


class Night(msgspec.Struct, frozen=True):
    """A campaign: its ``release`` or releases, options and versions, and what it saw.

    ``began`` and ``ended`` are in UTC. ``verdicts`` counts drawn cases; a block of expressions is
    one. ``faults`` is the number of distinct causes, error messages and declared failures left out.
    Fingerprints are compared within one format, ``fingerprints``. ``stream`` names the seed and the
    shards. ``gone`` are fingerprints of earlier findings whose cases ran again and passed.
    """

    name: str
    began: Moment
    ended: Moment
    release: str
    tvm: str
    fixes: str
    target: str
    families: tuple[str, ...]
    verdicts: Mapping[str, int]
    faults: int
    fingerprints: str
    stream: str
    seen: tuple[Seen, ...]
    gone: tuple[str, ...] = ()
    interrupted: bool = False
    format: int = FORMAT

    @property
    def cases(self) -> int:
        """The number of drawn cases that ended."""
        return sum(self.verdicts.values())

    @property
    def series(self) -> tuple[str, str, str]:
        """Nights of one release, side of the fixes and target: they are compared."""
        return self.release, self.fixes, self.target

    @property
    def key(self) -> str:
        """A name for its file, which no other night has."""
        words = (self.began.strftime("%Y-%m-%d-%H%M%S"), *self.series)
        text = "-".join("+".join(word.split()) for word in words if word)
        # Shards begin in one second, and their merge with the first of them.
        apart = "\n".join((*words, self.stream, *self.families))
        digest = hashlib.sha256(apart.encode()).hexdigest()[:8]
        plain = "".join(each if each.isalnum() or each in "-+._" else "_" for each in text)
        return f"{plain[:_NAMED]}-{digest}"


Naming = Callable[[Sequence[Finding], Sequence[str]], Mapping[str, NamedCause]]
"""The known causes of findings, by fingerprint; it gets the versions of TVM, too."""


def read_night(directory: Path, naming: Naming = lambda findings, versions: {}) -> Night:
    """The campaign in ``directory`` as a night; ``naming`` knows causes that have a title already.

    Raises:
        JournalError: there is no campaign, or it cannot be read.
        NightError: it has not run a case.
    """
    with Journal(directory, Mode.READ) as journal:
        description = journal.description
        findings = tuple(findings_in(journal))
        events = journal.events()
        verdicts = {str(verdict): count for verdict, count in journal.counts(DRAWN).items()}
        began, ended = _span(journal.path)
    has_run = "apache-tvm" in description
    named = naming(findings, each_version(description)) if has_run else {}
    titles = headings(findings, named)
    declared = {key: cause.place for key, cause in named.items() if cause.declared}
    undeclared = tuple(each for each in findings if each.fingerprint not in declared)
    return Night(
        directory.resolve().name,
        began,
        ended,
        description.get("release", ""),
        versions(description) if has_run else "",
        description.get("fixes", ""),
        description.get(TARGET, ""),
        tuple(description.get("families", "").split()),
        verdicts,
        len(counted_causes(undeclared, ())),
        description.get(FINGERPRINTS, ""),
        f"{description.get('seed', '')} {description.get('shard', '')}",
        tuple(
            _seen(each, titles[each.fingerprint], declared.get(each.fingerprint, ""))
            for each in findings
        ),
        _gone(events),
        any(event.type is EventType.INTERRUPTED for event in events),
    )


def _seen(finding: Finding, title: str, declared: str) -> Seen:
    return Seen(
        finding.fingerprint,
        title,
        finding.case.family,
        finding.operator,
        str(finding.verdict),
        finding.severity,
        finding.case.fixes,
        finding.count,
        finding.blamed,
        finding.outcome.message[:_MESSAGE],
        finding.confirmed,
        finding.cured,
        {name: str(verdict) for name, verdict in finding.releases.items()},
        msgspec.Raw(encode(finding.case)),
        declared,
    )


def _gone(events: Iterable[Event]) -> tuple[str, ...]:
    return tuple(sorted({event.text for event in events if event.type is EventType.CURED}))


def _span(path: Path) -> tuple[datetime, datetime]:
    with closing(connect_to_read(path)) as database:
        ((first, last),) = database.execute(
            "SELECT min(started), max(started) FROM cases WHERE purpose = ?", (DRAWN,)
        ).fetchall()
    if first is None:
        raise NightError(f"{path.parent} has not run a case")
    return _time(first), _time(last)


def _time(julian: float) -> datetime:
    moment = datetime.fromtimestamp(0, UTC) + timedelta(days=julian - _EPOCH)
    return moment.replace(microsecond=0)
