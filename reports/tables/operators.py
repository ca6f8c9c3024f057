"""The support table as Markdown and for a terminal."""

from collections.abc import Iterable

from rich.table import Table

from relaxcheck.harness.programs.support import LIMITED, NO, Row, Support

_HEAD = """\
# Operators

Every operator of Relax that TVM registers. An operator with a record has a family of programs of
its own (`relaxcheck fuzz FAMILY`), takes part in graphs, and is checked by the oracles named here.
`relaxcheck operators --docs` writes this page; the records are in `generators/operators/`.

* **axes**: the dimensions of the family, without how a program is compiled and fed.
* **faults**: the ways to make a call invalid, each of which TVM must refuse.
* **reference, PyTorch, ONNX Runtime**: the oracles. *limited*: not every call, see
  [below](#limits-of-the-oracles).
* **fixes**: the bundled fixes that change its lowering, on a release that needs them.
"""

_COLUMNS = ("operator", "axes", "faults", "reference", "PyTorch", "ONNX Runtime", "fixes")

_ORACLES = ("reference", "pytorch", "onnxruntime")


def page(support: Support) -> str:
    """The page ``docs/operators.md``."""
    known = [row for row in support.rows if row.record is not None]
    unknown = [row for row in support.rows if row.record is None]
    limits = [
        f"| `{limit.operator}` | {limit.oracle} | {limit.when} | {limit.why} |"
        for limit in support.limits
    ]
    parts = [
        _HEAD,
        f"{len(known)} operators have a record, {len(unknown)} are open.\n",
        "## With a record\n",
        _table(_COLUMNS, map(_line, known)),
        "## Limits of the oracles\n",
        "\n".join(["| operator | oracle | when | why |", "|---|---|---|---|", *limits]) + "\n",
        "## Open\n",
        "No record yet: these operators are in no program that relaxcheck draws. To write one,\n"
        "see [CONTRIBUTING.md](../CONTRIBUTING.md#add-an-operator).\n",
        _table(("operator", "fixes"), ((f"`{row.operator}`", _fixes(row)) for row in unknown)),
    ]
    return "\n".join(parts)


def table(support: Support) -> Table:
    """The support table for a terminal: operators with a record first, then open ones."""
    rendered = Table(title="operators of Relax", title_justify="left")
    for name in _COLUMNS:
        rendered.add_column(name, no_wrap=name == "operator")
    for row in sorted(support.rows, key=lambda row: row.record is None):
        cells = (row.reason,) if row.record is None else _line(row)[1:]
        rendered.add_row(row.operator, *cells)
    return rendered


def _line(row: Row) -> tuple[str, ...]:
    name = f"`{row.operator}`"
    if row.record != row.operator:
        name += f" (by `{row.record}`)"
    cells = (row.oracles[oracle] for oracle in _ORACLES)
    oracles = (f"*{cell}*" if cell == LIMITED else "" if cell == NO else cell for cell in cells)
    return (name, str(row.axes), str(row.faults or ""), *oracles, _fixes(row))


def _fixes(row: Row) -> str:
    return ", ".join(f"`{name}`" for name in row.fixes)


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("  ", " ") for line in lines) + "\n"
