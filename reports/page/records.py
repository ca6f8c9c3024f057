"""A campaign as its journal holds it, read once for the page."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from math import ceil
from pathlib import Path

import msgspec

from relaxcheck.generators.core.axes import Family, UnknownFamily, point_of
from relaxcheck.generators.core.case import AnyCase, CaseError, Valid
from relaxcheck.harness.events import summary_of
from relaxcheck.harness.journal.journal import DRAWN, Journal, JournalError, Mode
from relaxcheck.harness.journal.journal_file import TABLES
from relaxcheck.harness.journal.packing import unpack
from relaxcheck.harness.journal.tally import Tally
from relaxcheck.harness.kinds import decode, decode_record, family, of
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.parts import weight
from relaxcheck.reports.kinds import rendering

FIXES = "fixes"
"""The axis that the page adds for every kind of case: the side of the fixes."""

_EPOCH = 2440587.5
"""The Julian day of 1970-01-01T00:00Z."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A drawn case that ended, and when it began.

    ``cells`` maps axes to the case's coverage cell, as text; empty if it lies on no axis, as an
    invalid program. ``finding`` is the fingerprint of its finding, ``expected_by``
    the declared failure that expects it. ``count`` is the number of cases it
    stands for: a batch counts as its expressions, without those that are recorded by themselves.
    """

    began: datetime
    verdict: Verdict
    family: str
    special: bool
    cells: Mapping[str, str]
    finding: str | None = None
    expected_by: str | None = None
    count: int = 1


@dataclass(frozen=True)
class Record:
    """A campaign: ``description`` as the journal has it, ``ran`` in order of time.

    ``happened`` lists worker crashes and interruptions; ``unended`` counts cases that never ended.
    Of a long campaign ``ran`` has one case in ``every``, and ``tallies`` count all.
    """

    name: str
    description: Mapping[str, str]
    ran: tuple[Ran, ...]
    findings: tuple[Finding, ...]
    happened: tuple[str, ...] = ()
    unended: int = 0
    every: int = 1
    tallies: tuple[Tally, ...] = ()

    @property
    def began(self) -> datetime | None:
        """The time at which the first case began; None if none has ended."""
        if self.tallies:
            return _time(min(tally.first for tally in self.tallies))
        return self.ran[0].began if self.ran else None

    @property
    def verdicts(self) -> Counter[Verdict]:
        """Drawn cases by verdict."""
        counts: Counter[Verdict] = Counter()
        for each in self._counted:
            counts[each.verdict] += each.count
        return counts

    @property
    def cases(self) -> int:
        """The number of cases."""
        return sum(each.count for each in self._counted)

    @property
    def expected(self) -> Counter[str]:
        """The number of drawn cases that each declared failure expects, by name."""
        if self.every == 1:
            return Counter(case.expected_by for case in self.ran if case.expected_by)
        counts: Counter[str] = Counter()
        for tally in self.tallies:
            if tally.expected_by:
                counts[tally.expected_by] += tally.count
        return counts

    @property
    def failed(self) -> int:
        """The number of drawn cases that failed, declared failures included."""
        return sum(each.count for each in self._counted if each.verdict.is_failure)

    @property
    def _counted(self) -> Sequence[Ran | Tally]:
        # A block of expressions is one row, and counts as its expressions.
        return self.ran if self.every == 1 else self.tallies

    @cached_property
    def times(self) -> Mapping[str, tuple[datetime, datetime]]:
        """The times at which the first and the last case of each finding began."""
        days: dict[str, list[float]] = {}
        for tally in self.tallies:
            if tally.finding is not None:
                days.setdefault(tally.finding, []).extend((tally.first, tally.last))
        return {finding: (_time(min(each)), _time(max(each))) for finding, each in days.items()}


def read_campaign(
    directory: Path,
    progress: Callable[[int, int], None] = lambda done, of: None,
    most: int | None = None,
) -> Record:
    """The campaign in ``directory``; ``progress`` is called with the cases read and their total.

    Of a campaign of more cases than ``most`` about so many are read, drawn at random.

    Raises:
        JournalError: there is none, or it cannot be read.
    """
    with Journal(directory, Mode.READ) as journal:
        columns = TABLES["cases"].split(", ")
        ran: list[Ran] = []
        tallies = journal.tallies()
        ended, unended = sum(tally.count for tally in tallies), 0
        every = 1 if most is None else max(1, ceil(ended / most))
        # By identifiers, which are hashes: the first of them are a random sample.
        for row in journal.stored("cases"):
            if every > 1 and len(ran) * every >= ended:
                break
            values = dict(zip(columns, row, strict=True))
            if values["purpose"] != DRAWN:
                continue
            if values["verdict"] is None:
                unended += 1
                continue
            try:
                case, verdict = decode(unpack(values["json"])), Verdict(values["verdict"])
                if every > 1 and (of(case).is_batch(case) or of(case).is_part(case)):
                    # A row stands for many cases, or for one of many: no sample counts them.
                    return read_campaign(directory, progress)
                count = _count(case, values["outcome"])
            except (CaseError, ValueError, msgspec.DecodeError) as error:
                message = f"{journal.path}: case {values['id']} makes no sense ({error})"
                raise JournalError(message) from error
            case_ran = ran_of(case, verdict, _time(values["started"]))
            if count:
                ran.append(
                    replace(
                        case_ran,
                        finding=values["finding"],
                        expected_by=values["expected_by"],
                        count=count,
                    )
                )
            progress(len(ran), ended // every)
        happened = tuple(summary_of(journal.events(), journal.unfinished()))
        findings = tuple(findings_in(journal))
        ran.sort(key=lambda case: case.began)
        name = directory.resolve().name
        if every > 1:
            unended = sum(1 for _ in journal.unended(DRAWN))
        return Record(
            name,
            journal.description,
            tuple(ran),
            findings,
            happened,
            unended,
            every,
            tallies,
        )


def _count(case: AnyCase, outcome: bytes) -> int:
    # Most are no batches, and their outcomes take long to read.
    if not of(case).is_batch(case):
        return 1
    return weight(case, decode_record(unpack(outcome), Outcome))


def ran_of(case: AnyCase, verdict: Verdict, began: datetime) -> Ran:
    """A case that ended with ``verdict``, with its coverage cells."""
    special = case.regime == "special"
    return Ran(began, verdict, case.family, special, _cells(case))


def _time(julian: float) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(days=julian - _EPOCH)


def _cells(case: AnyCase) -> dict[str, str]:
    known = family_of(case.family)
    if known is None or not isinstance(case.expect, Valid):
        return {}
    try:
        point = point_of(known, case)
    except ValueError:
        return {}
    cells = {axis.name: str(axis.cell(point[axis.name])) for axis in known.axes}
    cells |= rendering(case).cells(case)
    cells[FIXES] = "on" if case.fixes else "off"
    return cells


@cache
def family_of(name: str) -> Family | None:
    """The family called ``name`` over every pipeline, or None if there is none any more."""
    try:
        return family(name)
    except UnknownFamily:
        return None
