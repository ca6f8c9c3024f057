"""The matrix: cases and declared gaps by TVM release, with the fixes off and on."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from generators.cases import AnyCase, operators, read, way
from generators.program import CaseError, Invalid
from harness.corpus import (
    CASE,
    CORPUS,
    SCRIPT,
    Record,
    entries,
    entry_folder,
    is_entry,
    read_record,
)
from harness.errors import headline
from harness.gaps import Gap, Known, KnownFinding, declared
from harness.jobs import Job, Limits
from harness.journal import FILE_NAME, Journal, Mode
from harness.known import findings_in
from harness.met import utc_today
from harness.outcome import Outcome, Verdict
from harness.pool import Pool, PoolError
from harness.releases import Release, ReleaseError, release
from harness.scripts import exit_code, run_script

SIDES = {False: "off", True: "on"}
"""Whether the fixes are on, and how a cell's key says it."""

Progress = Callable[[str, int, int], None]
"""Is told the release, how many cells of it are done, and how many there are."""


class Cell(msgspec.Struct, frozen=True):
    """What came of a case on a release; ``declared`` is what was said to, None where nothing is.

    ``otherwise``: the verdict is that, but the failure is another one. ``script`` is what the
    case's ``repro.py`` exited with, which knows no fixes; None where it was not run. ``objection``
    says what is wrong with that.
    """

    verdict: Verdict
    message: str = ""
    declared: Verdict | None = None
    otherwise: bool = False
    script: int | None = None
    objection: str = ""

    @property
    def surprises(self) -> bool:
        """Whether it is not as declared, or, where nothing is, a failure."""
        if self.declared is None:
            return self.verdict not in (Verdict.PASS, Verdict.REJECTED)
        return self.otherwise or self.verdict is not self.declared

    @property
    def promised(self) -> str:
        """What it is not, where it surprises: ``pass``, ``another opaque-crash``."""
        return f"another {self.declared}" if self.otherwise else str(self.declared)


def unexpected(cell: Cell, side: str) -> bool:
    """Whether ``cell``, of that side, is to be looked into: of what nothing is said may fail.

    With the fixes on it may not.
    """
    return cell.surprises and (cell.declared is not None or side == SIDES[True])


class Row(msgspec.Struct, frozen=True):
    """A case, or (``gap``) what is declared as known, by a case of it.

    ``reason`` is why a case of the corpus is declared to fail with the fixes on; ``cells`` are by
    release, then by ``SIDES``.
    """

    name: str
    title: str
    issue: str | None
    case: AnyCase
    gap: bool = False
    reason: str = ""
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
    """What a row is about, and what is declared of it: by the corpus, as known, or nothing.

    ``script`` shows it without the harness.
    """

    row: Row
    declared: Record | Known | None = None
    script: Path | None = None

    def wanted(self, version: str, *, fixes: bool) -> Verdict | None:
        """The verdict that is declared for ``version`` of apache-tvm.

        What has expired is to be right, and so is a gap on releases that it does not name. Of a
        known finding nothing is said elsewhere.
        """
        declared = self.declared
        match declared:
            case Record():
                return declared.verdict(version, fixes=fixes)
            case Gap() | KnownFinding() if declared.concerns(version, fixes=fixes):
                return self._right if declared.expired(utc_today()) else declared.verdict
            case Gap() if declared.fixes in (None, fixes):
                return self._right
        return None

    def cell(self, outcome: Outcome, version: str, *, fixes: bool) -> Cell:
        """What came of it on ``version`` of apache-tvm."""
        wanted = self.wanted(version, fixes=fixes)
        otherwise = (
            isinstance(self.declared, Gap | KnownFinding)
            and wanted is outcome.verdict is self.declared.verdict
            and not self.declared.expects(outcome)
        )
        said = headline(outcome.message)
        if isinstance(self.declared, Gap | KnownFinding) and wanted is not outcome.verdict:
            late = self.declared.concerns(version, fixes=fixes) and self.declared.expects(outcome)
            said += f" (expected until {self.declared.expires})" if late else ""
        return Cell(outcome.verdict, said, wanted, otherwise)

    @property
    def _right(self) -> Verdict:
        invalid = isinstance(self.row.case.expect, Invalid)
        return Verdict.REJECTED if invalid else Verdict.PASS


def subjects(places: Sequence[Path]) -> tuple[Subject, ...]:
    """The cases in ``places``, files, folders of them or campaigns, whose findings are taken.

    Without any, the corpus and what is known.

    Raises:
        CaseError: a place holds no case, or a file is malformed.
        JournalError: a campaign cannot be read.
    """
    if not places:
        return (*_corpus(CORPUS), *(_gap(one) for one in declared()))
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


def with_scripts(found: Matrix, wanted: Sequence[Subject], workers: int, show: Progress) -> Matrix:
    """``found``, and what the ``repro.py`` of each row of ``wanted`` says on each release that ran.

    It is to exit with 1 where the case fails without the fixes, and with 0 where it does not.
    """
    scripted = [number for number, one in enumerate(wanted) if one.script is not None]
    rows = list(found.rows)
    for column in found.columns:
        if column.missing:
            continue
        name = column.release
        run_one = partial(_scripted, release(name))
        chosen = [wanted[number] for number in scripted], [rows[number] for number in scripted]
        with ThreadPoolExecutor(workers) as threads:
            for done, cell in enumerate(threads.map(run_one, *chosen), 1):
                row = rows[scripted[done - 1]]
                sides = {**row.cells[name], SIDES[False]: cell}
                cells = {**row.cells, name: sides}
                rows[scripted[done - 1]] = msgspec.structs.replace(row, cells=cells)
                show(f"{name}, scripts", done, len(scripted))
    return msgspec.structs.replace(found, rows=tuple(rows))


def _scripted(where: Release, subject: Subject, row: Row) -> Cell:
    cell = row.cells[where.name][SIDES[False]]
    assert subject.script is not None
    seconds = subject.declared.seconds if isinstance(subject.declared, Record) else Limits().seconds
    try:
        ended = run_script(subject.script, where, seconds)
    except CaseError as error:
        return msgspec.structs.replace(cell, objection=str(error))
    to_be = exit_code(cell.verdict)
    objection = "" if ended.code == to_be else f"{ended.code}, and not {to_be}: {ended.said}"
    return msgspec.structs.replace(cell, script=ended.code, objection=objection)


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
        version = pool.environment["apache-tvm"]
        yield job.tag, SIDES[fixes], wanted[job.tag].cell(outcome, version, fixes=fixes)
        show(name, done, total)


def _corpus(folder: Path) -> Iterator[Subject]:
    for entry in entries(folder):
        yield _declared(entry.folder, entry.case, entry.expected)


def _declared(folder: Path, case: AnyCase, record: Record) -> Subject:
    row = Row(folder.name, record.title, record.issue, case, reason=record.reason)
    return Subject(row, record, folder / SCRIPT)


def _at(place: Path) -> Iterator[Subject]:
    # An export of an entry has its name.
    entry = entry_folder(str(place)) or place.resolve()
    if place.is_file():
        files = [place]
    elif (place / FILE_NAME).is_file():
        yield from _found(place)
        return
    elif is_entry(entry):
        yield _declared(entry, read(entry / CASE), read_record(entry))
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
        calls = " + ".join(operators(case))
        name = file.parent.name if file.name == CASE else file.stem
        yield Subject(Row(name, f"{calls}, {way(case)}", None, case))


def _found(campaign: Path) -> Iterator[Subject]:
    """The findings of ``campaign``, by their smallest cases."""
    with Journal(campaign, Mode.READ) as journal:
        found = list(findings_in(journal))
    if not found:
        raise CaseError(f"{campaign} is a campaign that found nothing")
    for one in found:
        title = f"{one.verdict}, {one.operator}: {one.blamed}"
        yield Subject(Row(one.case.identifier, title, None, one.case))


def _gap(known: Known) -> Subject:
    row = Row(known.name, known.reason, known.issue, known.case, gap=True)
    return Subject(row, known)
