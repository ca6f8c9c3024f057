"""The matrix of releases: a table for a terminal, a page in Markdown, JSON for programs."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich import box
from rich.table import Table
from rich.text import Text

from harness.matrix import SIDES, Cell, Column, Matrix, Row, unexpected
from harness.outcome import Verdict

PAGE = "MATRIX.md"
DATA = "matrix.json"

_GOOD = (Verdict.PASS, Verdict.REJECTED)
_NOT_RUN = "did not run"


@dataclass(frozen=True, slots=True)
class Regression:
    """A case that passes on the release ``good`` and fails on ``bad``, the next one that ran."""

    row: Row
    side: str
    good: str
    bad: str


def regressions(matrix: Matrix) -> tuple[Regression, ...]:
    """What passes on one release and fails on the next one that it ran on."""
    return tuple(found for row in matrix.rows for found in _regressions(row, matrix))


def surprises(matrix: Matrix) -> list[tuple[Row, str, str, Cell]]:
    """Every cell that is not as declared: its row, release and side; failures with fixes count."""
    return [
        (row, release, side, cell)
        for row in matrix.rows
        for release, sides in row.cells.items()
        for side, cell in sides.items()
        if unexpected(cell, side)
    ]


def disagreeing(matrix: Matrix) -> list[tuple[Row, str, Cell]]:
    """Every script that does not exit as its case ends without the fixes: its row, and release."""
    return [
        (row, release, cell)
        for row in matrix.rows
        for release, sides in row.cells.items()
        for cell in sides.values()
        if cell.objection
    ]


def unmended(matrix: Matrix) -> tuple[tuple[Row, tuple[str, ...]], ...]:
    """The declared gaps of the corpus, and the releases on which each fails with the fixes on."""
    on = SIDES[True]
    return tuple(
        (row, tuple(name for name, sides in row.cells.items() if sides[on].verdict.is_failure))
        for row in matrix.rows
        if row.reason
    )


def table(matrix: Matrix) -> Table:
    """One row a case or gap, two columns a release: the fixes off and on."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("case", overflow="fold")
    for column in matrix.columns:
        if column.missing:
            shown.add_column(column.release)
            continue
        for side in SIDES.values():
            shown.add_column(f"{column.release}\nfixes {side}")
    for row in matrix.rows:
        cells: list[Text] = []
        for column in matrix.columns:
            if column.missing:
                cells.append(Text(_NOT_RUN, style="dim"))
            else:
                cells += [_styled(row.cells[column.release][side]) for side in SIDES.values()]
        shown.add_row(Text(_name(row)), *cells)
    return shown


def lines(matrix: Matrix) -> Iterator[str]:
    """What there is to say beside the table, a line each."""
    for column in matrix.columns:
        if column.missing:
            yield f"{column.release}: {column.missing}"
    for one in regressions(matrix):
        yield f"regression: {one.row.name} passes on {one.good} and not on {one.bad}, {_side(one)}"
    for row, release, side, cell in surprises(matrix):
        declared = f"declared {cell.promised}" if cell.declared else "nothing is declared"
        yield f"{row.name} on {release}, fixes {side}: {cell.verdict} ({declared}): {cell.message}"
    if said := _of_scripts(matrix):
        yield f"repro.py: {said}"
    for row, release, cell in disagreeing(matrix):
        yield f"repro.py of {row.name} on {release}: {cell.objection}"


def markdown(matrix: Matrix) -> str:
    """The matrix as a page."""
    versions = [
        f"* {column.release}: apache-tvm {column.environment['apache-tvm']}, "
        f"apache-tvm-ffi {column.environment['apache-tvm-ffi']}"
        if not column.missing
        else f"* {column.release}: {column.missing}"
        for column in matrix.columns
    ]
    head = ["case", *(title for column in matrix.columns for title in _titles(column))]
    rows = [
        [_linked(row), *(cell for column in matrix.columns for cell in _cells(row, column))]
        for row in matrix.rows
    ]
    parts = [
        "# Every case on every release",
        "Written by `relaxcheck matrix`: the verdict of each case of the corpus, and of each "
        "declared gap, by TVM release, with the fixes off and on. A verdict that is not the one "
        "declared is marked ≠.",
        "\n".join(versions),
        "\n".join(["| " + " | ".join(one) + " |" for one in (head, ["---"] * len(head), *rows)]),
        _listed("Regressions", [_told(one) for one in regressions(matrix)]),
        _listed(
            "Not as declared",
            [
                f"`{row.name}` on {release}, fixes {side}: `{cell.verdict}`, {cell.message}"
                for row, release, side, cell in surprises(matrix)
            ],
        ),
    ]
    if gaps := unmended(matrix):
        items = [
            f"`{row.name}` (fails on {', '.join(names) or 'no release that ran'}): {row.reason}"
            for row, names in gaps
        ]
        title = "Declared gaps of the corpus: what fails with the fixes on, and why"
        parts.append(_listed(title, items))
    if said := _of_scripts(matrix):
        objections = [
            f"`{row.name}` on {release}: {cell.objection}"
            for row, release, cell in disagreeing(matrix)
        ]
        parts.append(_listed("Scripts", [said, *objections]))
    return "\n\n".join(parts) + "\n"


def write(matrix: Matrix, directory: Path) -> Path:
    """Write the page, and the data beside it; the page's path. Raises ``OSError``."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / DATA).write_bytes(
        msgspec.json.format(msgspec.json.encode(matrix), indent=1) + b"\n"
    )
    page = directory / PAGE
    page.write_text(markdown(matrix))
    return page


def _regressions(row: Row, matrix: Matrix) -> Iterator[Regression]:
    ran = [column.release for column in matrix.columns if column.release in row.cells]
    for side in SIDES.values():
        for good, bad in itertools.pairwise(ran):
            before, after = row.cells[good][side].verdict, row.cells[bad][side].verdict
            if before in _GOOD and after.is_failure:
                yield Regression(row, side, good, bad)


def _of_scripts(matrix: Matrix) -> str:
    """How many scripts ran and agree; empty where none was to run."""
    cells = [cell for row in matrix.rows for sides in row.cells.values() for cell in sides.values()]
    ran = [cell for cell in cells if cell.script is not None or cell.objection]
    agree = sum(not cell.objection for cell in ran)
    if not ran:
        return ""
    return f"{agree} of {len(ran)} runs (one a script and release) exited as the case ends there"


def _side(one: Regression) -> str:
    return f"fixes {one.side}"


def _told(one: Regression) -> str:
    cell = one.row.cells[one.bad][one.side]
    return (
        f"`{one.row.name}` ({one.row.title}), {_side(one)}: passes on {one.good}, "
        f"`{cell.verdict}` on {one.bad}: {cell.message}"
    )


def _listed(title: str, items: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"* {item}" for item in items or ["none"])


def _name(row: Row) -> str:
    return f"gap {row.name}" if row.gap else row.name


def _linked(row: Row) -> str:
    title = f"{row.title}".replace("|", "\\|")
    said = f"`{_name(row)}`: {title}"
    return f"{said} ([issue]({row.issue}))" if row.issue else said


def _titles(column: Column) -> list[str]:
    if column.missing:
        return [column.release]
    return [f"{column.release}, fixes {side}" for side in SIDES.values()]


def _cells(row: Row, column: Column) -> list[str]:
    if column.missing:
        return [_NOT_RUN]
    return [_cell(row.cells[column.release][side]) for side in SIDES.values()]


def _cell(cell: Cell) -> str:
    shown = str(cell.verdict) if cell.verdict in _GOOD else f"**{cell.verdict}**"
    return f"{shown} ≠ {cell.promised}" if _contradicts(cell) else shown


def _contradicts(cell: Cell) -> bool:
    return cell.declared is not None and cell.surprises


def _styled(cell: Cell) -> Text:
    shown = Text(str(cell.verdict), style="green" if cell.verdict in _GOOD else "red")
    if _contradicts(cell):
        shown.append(f" ≠ {cell.promised}", style="bold red")
    return shown
