"""The support table as Markdown and for a terminal."""

from collections.abc import Iterable

from rich.table import Table

from relaxcheck.harness.programs.support.rows import LIMITED, NO, YES, Row, Support
from relaxcheck.harness.wording import plural

_HEAD = """\
# Operators

Every operator of Relax that TVM registers. An operator with a record has a family of programs of
its own (`relaxcheck fuzz FAMILY`), takes part in graphs, and is checked by the oracles named here.
`relaxcheck operators --docs` writes this page; the records are in `generators/operators/`.

* **lowering**: `LegalizeOps` where the operator has a legalization, `packed` or `builtin` where it
  becomes a call of a packed function or of the VM; empty where another pass lowers it, or none.
* **axes**: the dimensions of the family, without how a program is compiled and fed.
* **faults**: the ways to make a call invalid, each of which TVM must refuse.
* **reference, PyTorch, ONNX Runtime**: the oracles. *limited*: not every call, see
  [below](#limits-of-the-oracles).
* **fixes**: the bundled fixes that change its lowering, on a release that needs them.
"""

_COLUMNS = (
    "operator",
    "lowering",
    "axes",
    "faults",
    "reference",
    "PyTorch",
    "ONNX Runtime",
    "fixes",
)

_ORACLES = ("reference", "pytorch", "onnxruntime")


def page(support: Support) -> str:
    """The page ``docs/operators.md``."""
    known = [row for row in support.rows if row.record]
    undrawn = [row for row in support.rows if not row.record and not row.is_open]
    unknown = [row for row in support.rows if row.is_open]
    limits = [
        f"| `{limit.operator}` | {limit.oracle} | {limit.when} | {limit.why} |"
        for limit in support.limits
    ]
    parts = [
        _HEAD,
        f"{plural(len(known), 'operator has', 'operators have')} a record, "
        f"{len(undrawn)} get none, {len(unknown)} are open.\n",
        "## With a record\n",
        _table(_COLUMNS, map(_line, known)),
        "## Limits of the oracles\n",
        "\n".join(["| operator | oracle | when | why |", "|---|---|---|---|", *limits]) + "\n",
        "## Without a record, for a reason\n",
        "Programs reach those that a pass of `relax.build` emits; its name is in brackets.\n",
        _table(("operator", "reason"), ((f"`{row.operator}`", row.reason) for row in undrawn)),
        "## Open\n",
        "No record yet: these operators are in no program that relaxcheck draws. To write one,\n"
        "see [CONTRIBUTING.md](../CONTRIBUTING.md#add-an-operator).\n",
        _table(
            ("operator", "lowering", "fixes"),
            ((f"`{row.operator}`", row.lowering, _fixes(row)) for row in unknown),
        ),
    ]
    return "\n".join(parts)


def table(support: Support) -> Table:
    """The support table for a terminal: operators with a record, without, and open ones.

    The last campaign's verdicts are a column if there are any.
    """
    rendered = Table(title="operators of Relax", title_justify="left")
    has_verdicts = any(row.verdicts for row in support.rows)
    columns = (
        "operator",
        "lowering",
        "axes",
        "oracles",
        "fixes, or why there is no record",
        "known",
    )
    for name in (*columns, *(["last campaign"] if has_verdicts else [])):
        rendered.add_column(name, no_wrap=name in ("operator", "lowering"), overflow="fold")
    for row in sorted(support.rows, key=lambda row: (not row.record, row.is_open)):
        cells = (
            (str(row.axes), _answering(row), ", ".join(row.fixes))
            if row.record
            else ("", "", row.reason)
        )
        counts = ", ".join(f"{count} {verdict}" for verdict, count in row.verdicts.items())
        verdicts = [counts] if has_verdicts else []
        rendered.add_row(row.operator, row.lowering, *cells, str(row.known or ""), *verdicts)
    return rendered


def _answering(row: Row) -> str:
    """The oracles that answer; those that do not answer every call in brackets."""
    if set(row.oracles.values()) == {YES}:
        return "all"
    cells = ((name, row.oracles[name]) for name in _ORACLES)
    return ", ".join(f"({name})" if cell == LIMITED else name for name, cell in cells if cell != NO)


def _line(row: Row) -> tuple[str, ...]:
    name = f"`{row.operator}`"
    if row.drawn_by != row.operator:
        name += f" (by `{row.drawn_by}`)"
    cells = (row.oracles[oracle] for oracle in _ORACLES)
    oracles = (f"*{cell}*" if cell == LIMITED else "" if cell == NO else cell for cell in cells)
    return (name, row.lowering, str(row.axes), str(row.faults or ""), *oracles, _fixes(row))


def _fixes(row: Row) -> str:
    return ", ".join(f"`{name}`" for name in row.fixes)


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("  ", " ") for line in lines) + "\n"
