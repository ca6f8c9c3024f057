"""The table of passes as Markdown and for a terminal."""

from collections.abc import Iterator, Mapping

from rich.table import Table

from relaxcheck.generators.passes import OUT, PASSES, PREPARATIONS, PUBLISHED
from relaxcheck.generators.passes.family import ORDERS
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.harness.programs.support.passes import Tally
from relaxcheck.harness.triage.bisection.narrowing import NARROWED

Counted = Mapping[str, Mapping[str, Tally]]

_SHOWN = (
    Severity.WRONG_RESULT,
    Severity.CRASH,
    Severity.BROKEN_MODULE,
    Severity.UNSUPPORTED,
)

_HEAD = """\
# Passes

Every pass of `relax.transform`. `relaxcheck fuzz pass-NAME` applies one to drawn programs, after
the passes that make the module it takes; `relaxcheck fuzz passes` applies orders of them, and the
pipelines that TVM publishes. Then `relax.build` compiles the rest, and the oracles judge the
result. After each pass the module has to be well formed and typed as precisely as before, keep
the attributes that the pass does not own, stay the same when the pass is applied again, and print
and parse to itself, as TVMScript and as JSON. A check that the module fails before the pass as
well is not held against the pass. In 0.26 and 0.27 `save_json` of any tensor type ends the
process: there JSON is not checked, nor TVMScript with metadata.

`relaxcheck passes --docs` writes this page; the records are in `generators/passes/`.
"""

_IDLE = """\
## Without effect

These are applied as well, and change no program on a CPU.
"""

_PREPARED = """\
## Prepared

Steps of ours give a module what these passes look for, and no program has.
"""

_COUNTS = """\
`relaxcheck passes --measure 500` draws programs for each pass until it has changed so many of them,
or until six times as many are drawn. The passes of a program that is not *judged* were applied, and
what they return was checked; it was not compiled.
"""

_NARROWED = """\
## Bisected to calls

Once `relaxcheck bisect` has named the pass, it looks for the calls that the pass goes wrong on. It
runs the pass with some of the calls held back: an opaque call stands in the place of each, and the
call comes back when the pass has run. Named is a smallest set: with all other calls held back the
program fails in the same way, with these held back as well it is right, in at most 30 runs.
Nothing can be held back from passes that rewrite every call, or the signatures of functions:
{passes}.
"""


def page(counted: Counted) -> str:
    """The page ``docs/passes.md``."""
    whole = ", ".join(f"`{name}`" for name in PASSES if name not in NARROWED)
    parts = [
        _HEAD,
        "## Applied\n",
        _records(),
        _PREPARED,
        _prepared(),
        _IDLE,
        _idle(),
        _NARROWED.format(passes=whole),
    ]
    for release, rows in counted.items():
        parts += [f"## Counts on {release}\n", _COUNTS, _counts(rows)]
    parts += ["## Published pipelines\n", _published(), "## Not applied\n", _out()]
    return "\n".join(parts)


def _records() -> str:
    lines = ["| pass | meaning | takes | options | applied again |", "|---|---|---|---|---|"]
    for record in PASSES.values():
        after = ", ".join(record.after) or "any module"
        options = "; ".join(
            f"`{option.name}`: {', '.join(map(repr, option.values))}" for option in record.options
        )
        again = record.differs_again or "the same"
        lines.append(f"| `{record.name}` | {record.meaning} | {after} | {options} | {again} |")
    return "\n".join(lines) + "\n"


def _prepared() -> str:
    lines = ["| step | meaning |", "|---|---|"]
    lines += [f"| `{each.name}` | {each.meaning} |" for each in PREPARATIONS.values()]
    return "\n".join(lines) + "\n"


def _idle() -> str:
    lines = ["| pass | reason |", "|---|---|"]
    lines += [f"| `{each.name}` | {each.idle} |" for each in PASSES.values() if each.idle]
    return "\n".join(lines) + "\n"


def _published() -> str:
    lines = ["| pipeline | meaning |", "|---|---|"]
    lines += [f"| `{each.name}` | {each.meaning} |" for each in PUBLISHED.values()]
    return "\n".join(lines) + "\n"


def _out() -> str:
    lines = ["| name | reason |", "|---|---|"]
    lines += [f"| `{each.name}` | {each.reason} |" for each in OUT.values()]
    return "\n".join(lines) + "\n"


def _counts(rows: Mapping[str, Tally]) -> str:
    columns = _columns()
    lines = [f"| {' | '.join(columns)} |", f"|---|{'---:|' * (len(columns) - 1)}"]
    lines += [f"| {' | '.join(cells)} |" for cells in map(_cells, rows.values())]
    return "\n".join(lines) + "\n"


def table(counted: Counted) -> Iterator[Table]:
    """A table for each release, for a terminal."""
    for release, rows in counted.items():
        shown = Table(title=f"Passes on {release}", title_justify="left", box=None)
        for at, column in enumerate(_columns()):
            shown.add_column(column, justify="right" if at else "left", no_wrap=not at)
        for row in rows.values():
            shown.add_row(
                *_cells(row), style="dim" if row.name != ORDERS and not row.changed else ""
            )
        yield shown


def _columns() -> tuple[str, ...]:
    return ("pass", "programs", "changed", "judged", *_SHOWN, "also without", "no verdict")


def _cells(row: Tally) -> tuple[str, ...]:
    counts = (row.programs, row.changed, row.judged, *(row.failures[each] for each in _SHOWN))
    return (row.name, *(str(each or "") for each in (*counts, row.alike, row.aside)))
