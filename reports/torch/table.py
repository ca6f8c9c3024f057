"""The page of the support table of PyTorch, and its summary for a terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table as RichTable

from relaxcheck.harness.torch.table.counting import ENDINGS, OFF, ON, PASSES, Counts, Row, Table
from relaxcheck.harness.torch.table.selecting import CORE, FORMS, LAYER, PER_ROW
from relaxcheck.harness.wording import plural

_HEAD = """\
# PyTorch operators and layers

Each operator of core ATen and each layer of `torch.nn`, and what TVM's importer
`from_exported_program` makes of programs with it. `relaxcheck torch table --docs` writes this page
from the runs that it makes, and the figures to `torch.json` beside it.

The programs are PyTorch's own samples of its operators and layers, in the first dtype of each: of a
row, up to {most} that call as few other operators as possible. Each is exported three times:
*decomposed* into core ATen (`run_decompositions()`), *undecomposed*, and decomposed with *dynamic*
dimensions. It is compiled without optimisation, run, and compared with eager PyTorch.
"""

_LEGEND = """\
A cell says what becomes of the programs without the fixes → with them, where that differs: they
*pass*; are *wrong*: give another value, shape or dtype; *crash*: end in an error that does not say
what is unsupported, leave something unlowered, or kill the process; or are *unsupported*, which a
clear error says. *–*: PyTorch exports none of them so, or none has a dimension that may vary.
"""

_TITLES = {CORE: "Core ATen", LAYER: "Layers"}


def summary(table: Table) -> RichTable:
    """The number of programs by ending, a row for each form, release and side."""
    shown = RichTable(title="programs of PyTorch", title_justify="left")
    for name in ("apache-tvm", "fixes", "exported"):
        shown.add_column(name, no_wrap=True)
    for name in ENDINGS:
        shown.add_column(name, justify="right")
    for line in _totals(table):
        shown.add_row(*line)
    return shown


def page(table: Table) -> str:
    """The page ``docs/torch.md``."""
    releases = tuple(table.versions)
    parts = [
        _HEAD.format(most=PER_ROW),
        f"Measured with torch {table.torch} and "
        f"{', '.join(f'apache-tvm {version}' for version in table.versions.values())}:\n",
        _markdown(("apache-tvm", "fixes", "exported", *ENDINGS), _totals(table)),
        _LEGEND,
    ]
    columns = [f"{release} {form}" for release in releases for form in FORMS]
    for kind, title in _TITLES.items():
        rows = [row for row in table.rows if row.kind == kind]
        parts += [
            f"## {title}\n",
            _markdown((plural(len(rows), "row"), *columns), (_line(row, releases) for row in rows)),
        ]
    parts += [
        "## Operators of core ATen without a program\n",
        "PyTorch has no sample of them that it can export, or none calls them before it is "
        "decomposed: those of training, of random numbers, and of sizes among them.\n",
        ", ".join(f"`{name}`" for name in table.unsampled) + ".\n"
        if table.unsampled
        else "None.\n",
    ]
    return "\n".join(parts)


def totals(table: Table) -> dict[tuple[str, str, str], Counts]:
    """The numbers of programs by release, side and form; those of several rows count in each."""
    found: dict[tuple[str, str, str], Counter[str]] = {}
    for release in table.versions:
        for side in (OFF, ON):
            for form in FORMS:
                counts: Counter[str] = Counter()
                for row in table.rows:
                    counts.update(row.cells[form][release][side])
                found[release, side, form] = counts
    return {place: dict(counts) for place, counts in found.items()}


def _totals(table: Table) -> Iterator[tuple[str, ...]]:
    for (release, side, form), counts in totals(table).items():
        yield (release, side, form, *(str(counts.get(name, 0)) for name in ENDINGS))


def _line(row: Row, releases: Sequence[str]) -> tuple[str, ...]:
    cells = (row.cells[form][release] for release in releases for form in FORMS)
    return (f"`{row.name}`", *(_cell(cell[OFF], cell[ON]) for cell in cells))


def _cell(off: Counts, on: Counts) -> str:
    before, after = _words(off), _words(on)
    return before if before == after else f"{before} → {after}"


def _words(counts: Counts) -> str:
    if not counts:
        return "–"
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{counts[name]} {name}" for name in ENDINGS if name in counts)


def _markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def regressions(table: Table) -> Iterator[str]:
    """A line for each row of which fewer programs pass with the fixes than without."""
    for row in table.rows:
        for form in FORMS:
            for release in table.versions:
                cell = row.cells[form][release]
                if cell[ON].get(PASSES, 0) < cell[OFF].get(PASSES, 0):
                    yield f"{row.name}, {form}, TVM {release}: {_cell(cell[OFF], cell[ON])}"
