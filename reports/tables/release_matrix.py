"""The matrix of releases: a table for a terminal, a page in Markdown, JSON for programs."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich import box
from rich.table import Table
from rich.text import Text

from relaxcheck.harness.matrix.matrix import SIDES, Cell, Column, Matrix, Row, unexpected
from relaxcheck.harness.releases.environment import tvm_title
from relaxcheck.harness.wording import plural

PAGE = "MATRIX.md"
DATA = "matrix.json"

_NOT_RUN = "did not run"


@dataclass(frozen=True, slots=True)
class Regression:
    """A case that passes on the release ``good`` and fails on ``bad``, the next one that ran."""

    row: Row
    side: str
    good: str
    bad: str


def regressions(matrix: Matrix) -> tuple[Regression, ...]:
    """The cases that pass on one release and fail on the next one that ran."""
    return tuple(regression for row in matrix.rows for regression in _regressions(row, matrix))


def surprises(matrix: Matrix) -> list[tuple[Row, str, str, Cell]]:
    """Every cell that is not as declared or fails with the fixes: its row, release and side."""
    return [
        (row, release, side, cell)
        for row in matrix.rows
        for release, sides in row.cells.items()
        for side, cell in sides.items()
        if unexpected(cell, side)
    ]


def disagreeing(matrix: Matrix) -> list[tuple[Row, str, Cell]]:
    """Every script that does not exit as its case ends without the fixes, with row and release."""
    return [
        (row, release, cell)
        for row in matrix.rows
        for release, sides in row.cells.items()
        for cell in sides.values()
        if cell.objection
    ]


def unmended(matrix: Matrix) -> tuple[tuple[Row, tuple[str, ...]], ...]:
    """The declared failures with the fixes on, and the releases of each."""
    on = SIDES[True]
    return tuple(
        (row, tuple(name for name in row.cells if _fails(row.cell(name, on))))
        for row in matrix.rows
        if row.reason
    )


def _fails(cell: Cell | None) -> bool:
    return cell is not None and cell.verdict.is_failure


def table(matrix: Matrix) -> Table:
    """One row per case or declared failure, two columns per release: fixes off and on.

    TIRx alone has one, where something runs there.
    """
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("case", overflow="fold")
    for column in matrix.columns:
        if column.missing:
            shown.add_column(column.release)
            continue
        for side in column.sides:
            shown.add_column(f"{column.release}\nfixes {side}")
    for row in matrix.rows:
        cells: list[Text] = []
        for column in matrix.columns:
            if column.missing:
                cells.append(Text(_NOT_RUN, style="dim"))
            else:
                cells += [_styled(row.cell(column.release, side)) for side in column.sides]
        shown.add_row(Text(_name(row)), *cells)
    return shown


def lines(matrix: Matrix) -> Iterator[str]:
    """Remarks beside the table, one line each."""
    for column in matrix.columns:
        if column.missing:
            yield f"{column.release}: {column.missing}"
    for regression in regressions(matrix):
        yield (
            f"regression: {regression.row.name} passes on {regression.good} "
            f"and not on {regression.bad}, {_side(regression)}"
        )
    for row, release, side, cell in surprises(matrix):
        declared = f"declared {cell.promised}" if cell.declared else "nothing is declared"
        yield f"{row.name} on {release}, fixes {side}: {cell.verdict} ({declared}): {cell.message}"
    if scripts := _of_scripts(matrix):
        yield f"repro.py: {scripts}"
    for row, release, cell in disagreeing(matrix):
        yield f"repro.py of {row.name} on {release}: {cell.objection}"


def markdown(matrix: Matrix) -> str:
    """The matrix as a Markdown page."""
    versions = [
        f"* {column.release}: {tvm_title(column.environment)}, "
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
        "declared is marked ≠."
        + (
            " TIRx alone has an analyzer of expressions, and no fixes."
            if _has_alone(matrix)
            else ""
        ),
        "\n".join(versions),
        "\n".join(["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]),
        _listed(
            "Regressions", [_regression_line(regression) for regression in regressions(matrix)]
        ),
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
    if scripts := _of_scripts(matrix):
        objections = [
            f"`{row.name}` on {release}: {cell.objection}"
            for row, release, cell in disagreeing(matrix)
        ]
        parts.append(_listed("Scripts", [scripts, *objections]))
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
            before, after = row.cell(good, side), row.cell(bad, side)
            if before is not None and before.verdict.is_right and _fails(after):
                yield Regression(row, side, good, bad)


def _of_scripts(matrix: Matrix) -> str:
    """The number of scripts that ran and agree; empty if none had to run."""
    cells = [cell for row in matrix.rows for sides in row.cells.values() for cell in sides.values()]
    ran = [cell for cell in cells if cell.script is not None or cell.objection]
    agree = sum(not cell.objection for cell in ran)
    if not ran:
        return ""
    runs = plural(len(ran), "run")
    return f"{agree} of {runs} (one a script and release) exited as the case ends there"


def _side(regression: Regression) -> str:
    return f"fixes {regression.side}"


def _regression_line(regression: Regression) -> str:
    cell = regression.row.cells[regression.bad][regression.side]
    return (
        f"`{regression.row.name}` ({regression.row.title}), {_side(regression)}: "
        f"passes on {regression.good}, `{cell.verdict}` on {regression.bad}: {cell.message}"
    )


def _listed(title: str, items: list[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"* {item}" for item in items or ["none"])


def _name(row: Row) -> str:
    return f"gap {row.name}" if row.gap else row.name


def _linked(row: Row) -> str:
    title = f"{row.title}".replace("|", "\\|")
    text = f"`{_name(row)}`: {title}"
    return f"{text} ([issue]({row.issue}))" if row.issue else text


def _titles(column: Column) -> list[str]:
    if column.missing:
        return [column.release]
    return [f"{column.release}, fixes {side}" for side in column.sides]


def _cells(row: Row, column: Column) -> list[str]:
    if column.missing:
        return [_NOT_RUN]
    return [_cell(row.cell(column.release, side)) for side in column.sides]


def _has_alone(matrix: Matrix) -> bool:
    return any(len(column.sides) < len(SIDES) for column in matrix.columns)


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    shown = str(cell.verdict) if cell.verdict.is_right else f"**{cell.verdict}**"
    return f"{shown} ≠ {cell.promised}" if _contradicts(cell) else shown


def _contradicts(cell: Cell) -> bool:
    return cell.declared is not None and cell.surprises


def _styled(cell: Cell | None) -> Text:
    if cell is None:
        return Text("")
    shown = Text(str(cell.verdict), style="green" if cell.verdict.is_right else "red")
    if _contradicts(cell):
        shown.append(f" ≠ {cell.promised}", style="bold red")
    return shown
