"""What the page is made from: a campaign as its journal holds it, read once."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import msgspec

from generators.axes import Family
from generators.cases import AnyCase, decode
from generators.families import UnknownFamily, family
from generators.program import Case, CaseError, Valid
from harness.events import told
from harness.finding import Finding
from harness.journal import DRAWN, Journal, JournalError, Mode
from harness.journal_file import TABLES
from harness.known import findings_in
from harness.outcome import Outcome, Verdict
from harness.parts import weight
from harness.pipelines import PIPELINES

SHAPES = "shapes"
FIXES = "fixes"
"""Axes of the page's own: whether a program has symbolic dimensions, and the side of the fixes."""

_EPOCH = 2440587.5
"""The Julian day of 1970-01-01T00:00Z."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A drawn case that ended, and when it began.

    ``cells`` maps axes to the coverage cell, as text, that the case lies in; empty where it lies on
    no axis (an invalid program). ``finding`` is the fingerprint that it is counted to, ``gap`` the
    known gap that expects it. ``count`` is how many cases it stands for: a block is its
    expressions, but for those that are there by themselves.
    """

    began: datetime
    verdict: Verdict
    family: str
    special: bool
    cells: Mapping[str, str]
    finding: str | None = None
    gap: str | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Record:
    """A campaign: ``description`` as the journal has it, ``ran`` in order of time.

    ``happened`` says what befell it, a line each; ``unended`` is how many cases never ended.
    """

    name: str
    description: Mapping[str, str]
    ran: tuple[Ran, ...]
    findings: tuple[Finding, ...]
    happened: tuple[str, ...] = ()
    unended: int = 0

    @property
    def began(self) -> datetime | None:
        """When its first case began; None where none has ended."""
        return self.ran[0].began if self.ran else None

    @property
    def verdicts(self) -> Counter[Verdict]:
        """Drawn cases by verdict."""
        counts: Counter[Verdict] = Counter()
        for one in self.ran:
            counts[one.verdict] += one.count
        return counts

    @property
    def cases(self) -> int:
        """How many cases there were."""
        return sum(one.count for one in self.ran)

    @property
    def gaps(self) -> Counter[str]:
        """How many drawn cases fell into each declared gap, by name."""
        return Counter(one.gap for one in self.ran if one.gap)

    @property
    def failed(self) -> int:
        """Drawn cases that failed, those in known gaps too."""
        return sum(one.count for one in self.ran if one.verdict.is_failure)


def read_campaign(
    directory: Path, progress: Callable[[int, int], None] = lambda done, of: None
) -> Record:
    """The campaign in ``directory``; ``progress`` hears how many of how many cases were read.

    Raises:
        JournalError: there is none, or it cannot be read.
    """
    with Journal(directory, Mode.READ) as journal:
        columns = TABLES["cases"].split(", ")
        ran: list[Ran] = []
        ended, unended = sum(journal.counts(DRAWN).values()), 0
        for row in journal.stored("cases"):
            values = dict(zip(columns, row, strict=True))
            if values["purpose"] != DRAWN:
                continue
            if values["verdict"] is None:
                unended += 1
                continue
            try:
                case, verdict = decode(values["json"]), Verdict(values["verdict"])
            except (CaseError, ValueError) as error:
                said = f"{journal.path}: case {values['id']} makes no sense ({error})"
                raise JournalError(said) from error
            one = ran_of(case, verdict, _time(values["started"]))
            count = _count(case, values["outcome"])
            if count:
                ran.append(replace(one, finding=values["finding"], gap=values["gap"], count=count))
            progress(len(ran), ended)
        happened = tuple(told(journal.events(), journal.unfinished()))
        found = tuple(findings_in(journal))
        ran.sort(key=lambda one: one.began)
        name = directory.resolve().name
        return Record(name, journal.description, tuple(ran), found, happened, unended)


def _count(case: AnyCase, outcome: bytes) -> int:
    # Most are programs, whose outcomes take long to read.
    if isinstance(case, Case):
        return 1
    return weight(case, msgspec.json.decode(outcome, type=Outcome))


def ran_of(case: AnyCase, verdict: Verdict, began: datetime) -> Ran:
    """A case that ended with ``verdict``, with the cells that it lies in."""
    special = case.regime == "special"
    return Ran(began, verdict, case.family, special, _cells(case))


def _time(julian: float) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(days=julian - _EPOCH)


def _cells(case: AnyCase) -> dict[str, str]:
    known = family_of(case.family)
    if known is None or not isinstance(case.expect, Valid):
        return {}
    try:
        point = known.point(case)
    except ValueError:
        return {}
    cells = {axis.name: str(axis.cell(point[axis.name])) for axis in known.axes}
    if isinstance(case, Case):
        cells[SHAPES] = "symbolic" if case.program.symbols else "static"
    cells[FIXES] = "on" if case.fixes else "off"
    return cells


@cache
def family_of(name: str) -> Family | None:
    """The family called ``name`` over every pipeline, or None where there is none (any more)."""
    try:
        return family(name, tuple(PIPELINES))
    except UnknownFamily:
        return None
