"""The section of the page that has the matrix of releases: what became of each case on each."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.matrix.matrix import Cell, Column, Matrix, Row
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.environment import tvm_title
from relaxcheck.reports.tables.release_matrix import DATA, regressions, surprises, unmended

COMMITTED = Path(__file__).resolve().parents[1] / "matrix"
"""The folder of the matrix that comes with relaxcheck: everything, on every release."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A release above its columns; ``about`` are the versions it ran with, or why it did not."""

    release: str
    about: str
    sides: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A cell: the verdict, what was declared instead where that is another one, TVM's message.

    ``verdict`` is None where the release, or the case on it, did not run.
    """

    verdict: Verdict | None
    instead_of: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A case, or a declared gap, and its cells in the order of the headings' sides."""

    name: str
    title: str
    gap: bool
    cells: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """All that the section shows. ``regressions``, ``surprises`` and ``gaps`` are sentences."""

    headings: tuple[Heading, ...]
    lines: tuple[Line, ...]
    regressions: tuple[str, ...]
    surprises: tuple[str, ...]
    gaps: tuple[str, ...]


def last(directory: Path = COMMITTED) -> Matrix | None:
    """The matrix that was written last, None where there is none.

    Raises:
        CaseError: it cannot be read.
    """
    path = directory / DATA
    try:
        return decode_record(path.read_bytes(), Matrix)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise CaseError(f"{path}: {error}; run: relaxcheck matrix") from error


def section(matrix: Matrix) -> Section:
    """``matrix`` as the page shows it."""
    return Section(
        tuple(map(_heading, matrix.columns)),
        tuple(_line(row, matrix.columns) for row in matrix.rows),
        tuple(
            f"{regression.row.name}, fixes {regression.side}: passes on {regression.good}, "
            f"{regression.row.cells[regression.bad][regression.side].verdict} on {regression.bad}"
            for regression in regressions(matrix)
        ),
        tuple(
            f"{row.name} on {release}, fixes {side}: {cell.verdict}, {_declared(cell)}"
            for row, release, side, cell in surprises(matrix)
        ),
        tuple(
            f"{row.name}, on {', '.join(names) or 'no release that ran'}: {row.reason}"
            for row, names in unmended(matrix)
        ),
    )


def _heading(column: Column) -> Heading:
    if column.missing:
        return Heading(column.release, column.missing, ("did not run",))
    about = tvm_title(column.environment)
    return Heading(column.release, about, tuple(f"fixes {side}" for side in column.sides))


def _line(row: Row, columns: tuple[Column, ...]) -> Line:
    cells: list[Shown] = []
    for column in columns:
        if column.missing:
            cells.append(Shown(None))
            continue
        cells += [_shown(row.cell(column.release, side)) for side in column.sides]
    return Line(row.name, row.title, row.gap, tuple(cells))


def _shown(cell: Cell | None) -> Shown:
    if cell is None:
        return Shown(None)
    differs = cell.declared is not None and cell.surprises
    return Shown(cell.verdict, cell.promised if differs else "", cell.message)


def _declared(cell: Cell) -> str:
    return f"declared {cell.promised}" if cell.declared else "nothing is declared"
