"""The matrix: cases and declared gaps by TVM release, with the fixes off and on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import msgspec

from generators.axes import Family, complete
from generators.families import families
from generators.program import Case, CaseError, read
from harness.corpus import CASE, CORPUS, Record, entries, entry_folder, is_entry, read_record
from harness.errors import headline
from harness.gaps import Gap, known_gaps
from harness.jobs import Job, Limits
from harness.outcome import Verdict
from harness.pipelines import PIPELINES
from harness.pool import Pool, PoolError
from harness.releases import ReleaseError, release

SIDES = {False: "off", True: "on"}
"""Whether the fixes are on, and how a cell's key says it."""

Progress = Callable[[str, int, int], None]
"""Is told the release, how many cells of it are done, and how many there are."""


class Cell(msgspec.Struct, frozen=True):
    """What came of a case on a release; ``declared`` is what was said to, None where nothing is."""

    verdict: Verdict
    message: str = ""
    declared: Verdict | None = None

    @property
    def surprises(self) -> bool:
        """Whether it is not as declared, or, where nothing is, a failure."""
        if self.declared is None:
            return self.verdict not in (Verdict.PASS, Verdict.REJECTED)
        return self.verdict is not self.declared


class Row(msgspec.Struct, frozen=True):
    """A case, or a declared gap by a case of it; ``cells`` by release, then by ``SIDES``."""

    name: str
    title: str
    issue: str | None
    case: Case
    gap: bool = False
    cells: dict[str, dict[str, Cell]] = {}


class Column(msgspec.Struct, frozen=True):
    """A release; ``environment`` are the versions it ran with, ``missing`` why it did not run."""

    release: str
    environment: dict[str, str] = {}
    missing: str = ""


class Matrix(msgspec.Struct, frozen=True):
    """Rows and columns, the oldest release first."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a row is about, and what is declared of it: by the corpus, by a gap, or by nothing."""

    row: Row
    declared: Record | Gap | None = None

    def wanted(self, version: str, *, fixes: bool) -> Verdict | None:
        """The verdict that is declared for ``version`` of apache-tvm."""
        match self.declared:
            case Record():
                return self.declared.verdict(version, fixes=fixes)
            case Gap(releases=releases) if self.declared.fixes in (None, fixes):
                fails = any(version.startswith(prefix) for prefix in releases)
                return self.declared.verdict if fails else Verdict.PASS
        return None


def subjects(places: Sequence[Path]) -> tuple[Subject, ...]:
    """The cases in ``places``, files or folders of them; without any, the corpus and the gaps.

    Raises:
        CaseError: a place holds no case, or a file is malformed.
    """
    if not places:
        return (*_corpus(CORPUS), *(_gap(one) for one in known_gaps()))
    return tuple(subject for place in places for subject in _at(place))


def run(
    wanted: Sequence[Subject], releases: Sequence[str], workers: int, limits: Limits, show: Progress
) -> Matrix:
    """The matrix of ``wanted`` on ``releases``, one after the other.

    A release that is not installed, or whose workers do not start (again), is a column that says
    so, without any cell.
    """
    columns = []
    cells: list[dict[str, dict[str, Cell]]] = [{} for _ in wanted]
    for name in releases:
        try:
            with Pool(workers, limits, release=release(name)) as pool:
                column = Column(name, pool.environment)
                found = list(_column(pool, wanted, name, show))
        except (ReleaseError, PoolError) as error:
            column, found = Column(name, missing=str(error)), []
        columns.append(column)
        for number, side, cell in found:
            cells[number].setdefault(name, {})[side] = cell
    rows = zip(wanted, cells, strict=True)
    return Matrix(
        tuple(columns),
        tuple(msgspec.structs.replace(subject.row, cells=by) for subject, by in rows),
    )


def _column(
    pool: Pool, wanted: Sequence[Subject], name: str, show: Progress
) -> Iterator[tuple[int, str, Cell]]:
    """Row number, side and cell of everything in ``wanted``."""
    for number, subject in enumerate(wanted):
        for fixes in SIDES:
            pool.submit(Job(msgspec.structs.replace(subject.row.case, fixes=fixes), tag=number))
    total = len(wanted) * len(SIDES)
    for done, (job, outcome) in enumerate(pool.drain(), 1):
        assert isinstance(job.tag, int)
        fixes = job.case.fixes
        declared = wanted[job.tag].wanted(pool.environment["apache-tvm"], fixes=fixes)
        yield job.tag, SIDES[fixes], Cell(outcome.verdict, headline(outcome.message), declared)
        show(name, done, total)


def _corpus(folder: Path) -> Iterator[Subject]:
    for entry in entries(folder):
        yield _declared(entry.name, entry.case, entry.expected)


def _declared(name: str, case: Case, record: Record) -> Subject:
    return Subject(Row(name, record.title, record.issue, case), record)


def _at(place: Path) -> Iterator[Subject]:
    # An export of an entry has its name.
    entry = entry_folder(str(place)) or place.resolve()
    if place.is_file():
        files = [place]
    elif is_entry(entry):
        yield _declared(entry.name, read(entry / CASE), read_record(entry))
        return
    elif any(map(is_entry, place.glob("*/*"))):
        yield from _corpus(place)
        return
    elif (entry / CASE).is_file():
        files = [entry / CASE]
    else:
        files = sorted(place.glob("*.json")) or sorted(place.glob(f"*/{CASE}"))
    if not files:
        raise CaseError(f"{place}: no case file, no folder of cases, no entry of the corpus")
    for file in files:
        case = read(file)
        calls = " + ".join(node.operator for node in case.program.nodes)
        name = file.parent.name if file.name == CASE else file.stem
        yield Subject(Row(name, f"{calls}, {case.pipeline}", None, case))


def _gap(gap: Gap) -> Subject:
    case = next((case for one in families(tuple(PIPELINES)) for case in _cases(one, gap)), None)
    if case is None:
        raise CaseError(f"known gap {gap.name}: no family has a case at what it says of axes")
    return Subject(Row(gap.name, gap.reason, gap.issue, case, gap=True), gap)


def _cases(family: Family, gap: Gap) -> Iterator[Case]:
    """Cases that lie in ``gap``: everything that it does not name is at its default."""
    named = {**gap.when, **{axis: (value,) for axis, value in gap.example.items()}}
    axes = [axis for axis in family.axes if axis.name in named]
    if len(axes) < len(named):
        return
    values = ([one for one in axis.values if str(one) in named[axis.name]] for axis in axes)
    for chosen in product(*values):
        point = {axis.name: value for axis, value in zip(axes, chosen, strict=True)}
        try:
            case = family.build(complete(family.axes, point), 0)
        except ValueError:
            continue
        if gap.operator in {node.operator for node in case.program.nodes}:
            yield case
