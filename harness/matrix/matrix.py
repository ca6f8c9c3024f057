"""The matrix: cases and declared failures by TVM release, with the fixes off and on."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from relaxcheck.generators.core.case import AnyCase, CaseError, Invalid, with_fixes
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, Mode
from relaxcheck.harness.kinds import operators, read, read_each, runs_on, way
from relaxcheck.harness.known.corpus import (
    CASE,
    SCRIPT,
    Record,
    entries,
    entry_folder,
    is_entry,
    read_record,
)
from relaxcheck.harness.known.expected_failures import (
    ExpectedFailure,
    Known,
    KnownFinding,
    declared,
)
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.known.tally import utc_today
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.paths import CORPUS
from relaxcheck.harness.releases.environment import is_alone
from relaxcheck.harness.releases.releases import Release, ReleaseError, release
from relaxcheck.harness.triage.scripts import exit_code, run_script
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.starting import PoolError

SIDES = {False: "off", True: "on"}
"""The key of a cell by whether the fixes are on."""

Progress = Callable[[str, int, int], None]
"""Called with the release, the number of its cells that are done, and of all its cells."""


class Cell(msgspec.Struct, frozen=True):
    """The verdict on a case on a release; ``declared`` is the expected one, None if there is none.

    ``otherwise``: the verdict is the declared one, but the failure differs. ``script`` is the exit
    code of the case's ``repro.py``, which has no fixes; None if it was not run. ``objection`` says
    why that code is wrong.
    """

    verdict: Verdict
    message: str = ""
    declared: Verdict | None = None
    otherwise: bool = False
    script: int | None = None
    objection: str = ""

    @property
    def surprises(self) -> bool:
        """True if it is not as declared, or fails and nothing is declared."""
        if self.declared is None:
            return not self.verdict.is_right
        return self.otherwise or self.verdict is not self.declared

    @property
    def promised(self) -> str:
        """The result that a surprising cell should have had: ``pass``, ``another opaque-crash``."""
        return f"another {self.declared}" if self.otherwise else str(self.declared)


def unexpected(cell: Cell, side: str) -> bool:
    """True if ``cell``, of ``side``, has to be looked into.

    Without the fixes a case with no declaration may fail; with them it may not.
    """
    return cell.surprises and (cell.declared is not None or side == SIDES[True])


class Row(msgspec.Struct, frozen=True):
    """A case, or a declared failure (``gap``) by a case of it.

    ``reason`` explains why a case of the corpus is declared to fail with the fixes on; ``cells``
    are by release, then by ``SIDES``.
    """

    name: str
    title: str
    issue: str | None
    case: AnyCase
    gap: bool = False
    reason: str = ""
    cells: dict[str, dict[str, Cell]] = {}

    def cell(self, release: str, side: str) -> Cell | None:
        """Its cell; None where it does not run."""
        return self.cells.get(release, {}).get(side)


class Column(msgspec.Struct, frozen=True):
    """A release; ``environment`` are its versions, ``missing`` the reason that it did not run.

    ``sides`` are those of its cells: TIRx alone has no fixes. It runs few rows, too.
    """

    release: str
    environment: dict[str, str] = {}
    missing: str = ""
    sides: tuple[str, ...] = tuple(SIDES.values())


class Matrix(msgspec.Struct, frozen=True):
    """Rows and columns, the oldest release first."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a row, and its declaration: by the corpus, as known, or None.

    ``script`` reproduces it without the harness.
    """

    row: Row
    declared: Record | Known | None = None
    script: Path | None = None

    def wanted(self, version: str, *, fixes: bool) -> Verdict | None:
        """The verdict that is declared for ``version`` of apache-tvm.

        A declaration that has expired expects a pass, and so does a gap on releases that it does
        not name. A known finding declares nothing on other releases.
        """
        declared = self.declared
        match declared:
            case Record():
                return declared.verdict(version, fixes=fixes)
            case ExpectedFailure() | KnownFinding() if declared.concerns(version, fixes=fixes):
                return self._right if declared.expired(utc_today()) else declared.verdict
            case ExpectedFailure() if declared.fixes in (None, fixes):
                return self._right
        return None

    def cell(self, outcome: Outcome, version: str, *, fixes: bool) -> Cell:
        """The cell of ``outcome`` on ``version`` of apache-tvm."""
        wanted = self.wanted(version, fixes=fixes)
        otherwise = (
            isinstance(self.declared, ExpectedFailure | KnownFinding)
            and wanted is outcome.verdict is self.declared.verdict
            and not self.declared.expects(outcome)
        )
        summary = headline(outcome.message)
        if (
            isinstance(self.declared, ExpectedFailure | KnownFinding)
            and wanted is not outcome.verdict
        ):
            late = self.declared.concerns(version, fixes=fixes) and self.declared.expects(outcome)
            summary += f" (expected until {self.declared.expires})" if late else ""
        return Cell(outcome.verdict, summary, wanted, otherwise)

    @property
    def _right(self) -> Verdict:
        invalid = isinstance(self.row.case.expect, Invalid)
        return Verdict.REJECTED if invalid else Verdict.PASS


def subjects(places: Sequence[Path]) -> tuple[Subject, ...]:
    """The cases in ``places``: files, folders of files, or campaigns, for their findings.

    Without places the corpus and the declared failures.

    Raises:
        CaseError: a place holds no case, or a file is malformed.
        JournalError: a campaign cannot be read.
    """
    if not places:
        return (*_corpus(CORPUS), *(_gap(entry) for entry in declared()))
    return tuple(subject for place in places for subject in _at(place))


def run(
    wanted: Sequence[Subject],
    releases: Sequence[str],
    workers: int,
    limits: Limits,
    show: Progress,
    kept: Kept[Cell] | None = None,
) -> Matrix:
    """The matrix of ``wanted`` on ``releases``, one after the other; what is ``kept`` stands.

    A release that is not installed, or whose workers do not start, is a column without cells that
    says so. A row has no cell where TIRx alone cannot run it.
    """
    columns = []
    cells: list[dict[str, dict[str, Cell]]] = [{} for _ in wanted]
    for name in releases:
        try:
            with Pool(workers, limits, release=release(name, alone=True)) as pool:
                sides = tuple(SIDES.values()) if pool.release.has_relax else (SIDES[False],)
                column = Column(name, pool.environment, sides=sides)
                outcomes = list(_column(pool, wanted, name, show, kept))
        except (ReleaseError, PoolError) as error:
            column, outcomes = Column(name, missing=str(error)), []
        columns.append(column)
        for number, side, cell in outcomes:
            cells[number].setdefault(name, {})[side] = cell
    rows = zip(wanted, cells, strict=True)
    return Matrix(
        tuple(columns),
        tuple(msgspec.structs.replace(subject.row, cells=by) for subject, by in rows),
    )


def with_scripts(matrix: Matrix, wanted: Sequence[Subject], workers: int, show: Progress) -> Matrix:
    """``matrix`` with the exit code of each row's ``repro.py`` on each release that ran.

    It must be 1 if the case fails without the fixes, and 0 if it does not. The script of a fault of
    TIRx alone names that package, and others name TVM: neither runs with the other one.
    """
    rows = list(matrix.rows)
    for column in matrix.columns:
        if column.missing:
            continue
        name = column.release
        where = release(name, alone=True)
        scripted = [number for number, each in enumerate(wanted) if _has_script(each, where)]
        run_one = partial(_scripted, where)
        chosen = [wanted[number] for number in scripted], [rows[number] for number in scripted]
        with ThreadPoolExecutor(workers) as threads:
            for done, cell in enumerate(threads.map(run_one, *chosen), 1):
                row = rows[scripted[done - 1]]
                sides = {**row.cells[name], SIDES[False]: cell}
                cells = {**row.cells, name: sides}
                rows[scripted[done - 1]] = msgspec.structs.replace(row, cells=cells)
                show(f"{name}, scripts", done, len(scripted))
    return msgspec.structs.replace(matrix, rows=tuple(rows))


def _has_script(subject: Subject, where: Release) -> bool:
    if subject.script is None:
        return False
    record = subject.declared
    of_tirx = isinstance(record, Record) and is_alone(record.environment)
    return where.has_relax is not of_tirx


def _scripted(where: Release, subject: Subject, row: Row) -> Cell:
    cell = row.cells[where.name][SIDES[False]]
    assert subject.script is not None
    seconds = subject.declared.seconds if isinstance(subject.declared, Record) else Limits().seconds
    try:
        ended = run_script(subject.script, where, seconds)
    except CaseError as error:
        return msgspec.structs.replace(cell, objection=str(error))
    to_be = exit_code(cell.verdict)
    objection = "" if ended.code == to_be else f"{ended.code}, and not {to_be}: {ended.output}"
    return msgspec.structs.replace(cell, script=ended.code, objection=objection)


def _column(
    pool: Pool, wanted: Sequence[Subject], name: str, show: Progress, kept: Kept[Cell] | None
) -> Iterator[tuple[int, str, Cell]]:
    """Row number, side and cell of everything in ``wanted``; cells that are new are kept."""
    version, done = pool.environment["apache-tvm"], 0
    every = (
        (number, with_fixes(subject.row.case, fixes), side)
        for number, subject in enumerate(wanted)
        for fixes, side in SIDES.items()
    )
    possible = [each for each in every if runs_on(each[1], pool.release)]
    total = len(possible)
    for number, case, side in possible:
        there = kept.get(name, version, case.identifier) if kept else None
        if kept is None or there is None:
            pool.submit(Job(case, tag=number))
            continue
        kept.reused += 1
        done += 1
        yield number, side, there
    for job, outcome in pool.drain():
        assert isinstance(job.tag, int)
        fixes = job.case.fixes
        cell = wanted[job.tag].cell(outcome, version, fixes=fixes)
        if kept is not None:
            kept.add(name, version, job.case.identifier, cell)
        yield job.tag, SIDES[fixes], cell
        done += 1
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
    inner = sorted(filter(is_entry, place.glob("*")))
    if place.is_file():
        files = [place]
    elif (place / FILE_NAME).is_file():
        yield from _findings_of(place)
        return
    elif is_entry(entry):
        yield _declared(entry, read(entry / CASE), read_record(entry))
        return
    elif any(map(is_entry, place.glob("*/*"))):
        yield from _corpus(place)
        return
    elif inner:
        # The entries of one family, perhaps beside other data of it.
        yield from (_declared(each, read(each / CASE), read_record(each)) for each in inner)
        return
    elif (entry / CASE).is_file():
        files = [entry / CASE]
    else:
        files = sorted(place.glob("*.json")) or sorted(place.glob(f"*/{CASE}"))
    found = [(place, read(place))] if files == [place] else read_each(files)[0]
    if not found:
        raise CaseError(f"{place}: no case file, no folder of cases, no entry of the corpus")
    for file, case in found:
        yield subject_of(file.parent.name if file.name == CASE else file.stem, case)


def subject_of(name: str, case: AnyCase) -> Subject:
    """The subject called ``name`` of a ``case`` of which nothing is declared."""
    calls = " + ".join(operators(case))
    return Subject(Row(name, f"{calls}, {way(case)}", None, case))


def _findings_of(campaign: Path) -> Iterator[Subject]:
    """The findings of ``campaign``, by their smallest cases."""
    with Journal(campaign, Mode.READ) as journal:
        recorded = list(findings_in(journal))
    if not recorded:
        raise CaseError(f"{campaign} is a campaign that found nothing")
    for finding in recorded:
        title = f"{finding.verdict}, {finding.operator}: {finding.blamed}"
        yield Subject(Row(finding.case.identifier, title, None, finding.case))


def _gap(known: Known) -> Subject:
    row = Row(known.name, known.reason, known.issue, known.case, gap=True)
    return Subject(row, known)
