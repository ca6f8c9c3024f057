"""The results of ONNX's own tests: a summary for a terminal, and the page of the support table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.table import Table

from relaxcheck.harness.onnx.suite.expectations import Expectation
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.onnx.suite.support import (
    CRASHES,
    PASSES,
    UNSUPPORTED,
    WRONG,
    Cell,
    Row,
)
from relaxcheck.harness.onnx.suite.verification import OFF, ON
from relaxcheck.harness.outcomes.outcome import Verdict

Results = Mapping[str, Mapping[str, Mapping[str, Result]]]
"""Results by release, side and test."""

_HEAD = """\
# ONNX operators

Each operator of ONNX, and what TVM's importer `from_onnx` makes of the tests about it that the
package `onnx` brings. `relaxcheck onnx suite --tvm all --docs` writes this page.

Each test is a model of one node or a few, with inputs and the outputs that ONNX states. It is
imported as it is, so that axes, shapes and the like that are inputs are known at run time alone;
compiled without optimisation; and run. Shapes and dtypes are compared exactly, values to the
tolerance of the test.
"""

_LEGEND = """\
* **opset**: the version of the operator, by the opset from which on it is in force.
* **tests**: of these, so many pass on a release without the fixes → with them, where that differs.
  Of the others, *wrong* give another value, shape or dtype; *crash* end in an error that does not
  say what is unsupported, leave something unlowered without an error, or kill or hang the process;
  *unsupported* are refused by an error that says what is not supported.
* **not mapped**: the importer has no converter. That it has one is no promise.
"""

_SHOWN = {WRONG: "wrong", CRASHES: "crash", UNSUPPORTED: "unsupported"}


def summary(results: Results) -> Table:
    """The number of tests by verdict, a column for each release and side."""
    columns = {
        f"{release}, fixes {side}": Counter(each.verdict for each in by_name.values())
        for release, sides in results.items()
        for side, by_name in sides.items()
    }
    table = Table(title="tests of ONNX", title_justify="left")
    table.add_column("verdict", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right")
    for verdict in Verdict:
        if any(counts[verdict] for counts in columns.values()):
            cells = (str(counts[verdict] or "") for counts in columns.values())
            table.add_row(verdict.value, *cells)
        if verdict is Verdict.UNSUPPORTED and any(_unnamed(each) for each in _columns(results)):
            table.add_row(
                f"  {_UNNAMED}", *(str(_unnamed(each) or "") for each in _columns(results))
            )
    return table


_UNNAMED = "no operator named"
"""The heading of refusals that name no operator; they are counted as unsupported, too."""


def _columns(results: Results) -> Iterator[Mapping[str, Result]]:
    for sides in results.values():
        yield from sides.values()


def _unnamed(by_name: Mapping[str, Result]) -> int:
    return sum(each.unnamed for each in by_name.values())


def page(
    rows: Sequence[Row],
    results: Results,
    expected: Sequence[Expectation],
    unknown: Sequence[str],
    onnx_version: str,
) -> str:
    """The page ``docs/onnx.md``; ``unknown`` are operators of other domains that are mapped."""
    releases = tuple(results)
    tested = [row for row in rows if row.tests]
    bodies = [row for row in rows if row.bodies]
    untested = [row for row in rows if not row.tests and not row.bodies]
    parts = [
        _HEAD,
        f"Measured with onnx {onnx_version}:\n",
        _summary(results),
        f"Of the tests that are unsupported, *{_UNNAMED}* counts those whose error names none.\n",
        "## Tests of operators\n",
        _LEGEND,
        _table(
            ("operator", "opset", "tests", *releases),
            (
                (_code(row.operator), str(row.version), str(row.tests), *_cells(row, "tests"))
                for row in tested
            ),
        ),
        "## Bodies of functions\n",
        "Tests of the same operators, whose model is the body that ONNX defines the operator by.\n",
        _table(
            ("operator", "opset", "tests", *releases),
            (
                (_code(row.operator), str(row.version), str(row.bodies), *_cells(row, "bodies"))
                for row in bodies
            ),
        ),
        "## Versions without a test\n",
        "Versions in force in an opset from 7 on, with no test of ONNX about them.\n",
        _table(
            ("operator", "opsets", *releases),
            (
                (_code(name), ", ".join(str(row.version) for row in each), *_claims(each, releases))
                for name, each in _by_operator(untested).items()
            ),
        ),
        "## Mapped operators of other domains\n",
        ", ".join(map(_code, unknown)) + ".\n" if unknown else "None.\n",
        "## Failures that are expected with the fixes on\n",
        "One row for each cause; the columns count tests. They are in `corpus/onnx-suite.json`.\n",
        _table(
            ("row", "cause", "verdict", *releases),
            (
                (
                    _code(row.name),
                    row.why,
                    row.verdict,
                    *(str(row.releases.get(name, "")) for name in releases),
                )
                for row in expected
            ),
        ),
    ]
    return "\n".join(parts)


def _summary(results: Results) -> str:
    counts = {
        (release, side): Counter(each.verdict for each in by_name.values())
        for release, sides in results.items()
        for side, by_name in sides.items()
    }
    verdicts = [each for each in Verdict if any(counted[each] for counted in counts.values())]
    return _table(
        ("apache-tvm", "fixes", *(verdict.value for verdict in verdicts), _UNNAMED),
        (
            (
                *(release, side, *(str(counted[verdict]) for verdict in verdicts)),
                str(_unnamed(results[release][side])),
            )
            for (release, side), counted in counts.items()
        ),
    )


def _cells(row: Row, which: str) -> Iterable[str]:
    for sides in row.cells.values():
        off, on = (_ending(sides[side], which) for side in (OFF, ON))
        yield off if off == on else f"{off} → {on}"


def _ending(cell: Cell, which: str) -> str:
    counts = cell.tests if which == "tests" else cell.bodies
    if not cell.claimed and which == "tests" and set(counts) <= {UNSUPPORTED}:
        return "not mapped"
    others = [f"{counts[each]} {word}" for each, word in _SHOWN.items() if each in counts]
    return ", ".join([str(counts.get(PASSES, 0)), *others])


def _by_operator(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.operator, []).append(row)
    return found


def _claims(rows: Sequence[Row], releases: Sequence[str]) -> Iterable[str]:
    """Is the operator of ``rows`` mapped, by release, without the fixes and with them?"""
    for release in releases:
        off, on = (rows[0].cells[release][side].claimed for side in (OFF, ON))
        yield "mapped" if off else "mapped by a fix" if on else "not mapped"


def _code(name: str) -> str:
    return f"`{name}`"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("  ", " ") for line in lines) + "\n"
