"""The share of random programs' needs of dimensions that the prover proves, and its cost.

    python -m tests.measure.bench.proofs   # a table: needs, their proofs, the time
    python -m tests.measure.bench.proofs --programs 1000

The programs are those of the family ``dynamic``, of one to eight steps and every operator in turn;
the needs are those of ``fixes/proving/needs.py``; the shape guard checks what it cannot prove of
them. Each distinct need of a program is asked about once, with nothing remembered.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.proving import forms as shape_forms
from relaxcheck.fixes.proving import needs as shape_needs
from relaxcheck.fixes.proving import prover, solver
from relaxcheck.fixes.proving import tvm_forms as tvm_api_forms
from relaxcheck.fixes.proving.prover import Level
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import functions
from relaxcheck.fixes.tvm_api.functions import sequence as sequence_of
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.emission import programs as emission
from relaxcheck.generators.graphs import family as dynamic

SIZES = "a number, known at once"
FALSE = "false at some sizes: checked at run time"
UNPROVED = "not known to be false, not proved: checked at run time"
_BY = {
    Level.ALIKE: "written alike",
    Level.ANALYZER: "the analyzer",
    Level.WRITTEN_OUT: "polynomials",
    Level.STRONGEST: "the analyzer at its strongest",
    Level.SOLVER: "z3",
}


@dataclass(slots=True)
class Proofs:
    """Needs by what becomes of them, the seconds each took, and those that nothing proves."""

    programs: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    before: list[float] = field(default_factory=list)
    """The time to ask the analyzer twice: for a claim and for its negation."""
    proved_before: int = 0
    unproved: Counter[str] = field(default_factory=Counter)


def programs(count: int) -> Iterator[Any]:
    """Modules of ``count`` random programs of the family ``dynamic``."""
    family = dynamic.family(("build",))
    axes = {axis.name: axis.values for axis in family.axes}
    for seed in range(count):
        focus = axes["focus"][seed % len(axes["focus"])]
        chosen = {"form": dynamic.RANDOM, "steps": 1 + seed % 8, "focus": focus}
        yield emission.emit(family.build(complete(family.axes, chosen), seed))


def needs(module: Any) -> list[Any]:
    """The conditions that calls of ``module`` need, each once."""
    conditions: dict[str, Any] = {}
    for _, function in functions(module):
        for block in sequence_of(function.body).blocks:
            for binding in block.bindings:
                if not isinstance(binding.value, relax.Call):
                    continue
                for need in shape_needs.of(binding.value):
                    conditions.setdefault(str(need.condition), need.condition)
    return list(conditions.values())


def _timed(ask: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    answer = ask()
    return answer, time.perf_counter() - start


def _level_of(condition: Any, level: Level | None) -> str:
    if not tvm_api_shapes.variables(condition):
        return SIZES
    if level is not None:
        return _BY[level]
    form = tvm_api_forms.form_of(condition)
    values = [shape_forms.value(form, point) for point in shape_forms.points(form)] if form else []
    return FALSE if False in values else UNPROVED


def measured(count: int) -> Proofs:
    """The results for the needs of ``count`` programs."""
    results = Proofs()
    with fixes.install():
        for module in programs(count):
            results.programs += 1
            for condition in needs(module):
                prover.forget()
                level, seconds = _timed(lambda condition=condition: prover.proved_by(condition))
                level_name = _level_of(condition, level)
                results.counts[level_name] += 1
                results.seconds.setdefault(level_name, []).append(seconds)
                if level_name == UNPROVED:
                    results.unproved[tvm_api.show(condition)] += 1
                if level_name != SIZES:
                    proved, took = _timed(lambda condition=condition: _as_before(condition))
                    results.before.append(took)
                    results.proved_before += proved
    return results


def _as_before(condition: Any) -> bool:
    analyzer = tvm_api_shapes.sizes_analyzer([condition])
    if analyzer.can_prove(condition):
        return True
    analyzer.can_prove(tvm_api.negated(condition))
    return False


def table(results: Proofs) -> str:
    """Markdown: by what becomes of needs, how many, the median and the largest time in ms."""
    lines = ["| needs | | ms, median | ms, largest |", "|---|---:|---:|---:|"]
    for level_name in (SIZES, *_BY.values(), FALSE, UNPROVED):
        times = [1000 * seconds for seconds in results.seconds.get(level_name, [])]
        figures = f"{median(times):.2f} | {max(times):.1f}" if times else " | "
        lines.append(f"| {level_name} | {results.counts[level_name]} | {figures} |")
    total = 1000 * sum(map(sum, results.seconds.values()))
    lines += [
        "",
        f"{results.programs} programs, {sum(results.counts.values())} needs, {total:.0f} ms in all;"
        f" the analyzer alone, asked as it was before, proves {results.proved_before} of those that"
        f" are no numbers in {1000 * sum(results.before):.0f} ms."
        f" z3 is {'' if solver.available() else 'not '}installed.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table, and what nothing proves."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--programs", type=int, default=300)
    results = measured(parser.parse_args().programs)
    print(table(results))
    for claim, times in results.unproved.most_common():
        print(f"{times} × {claim}")


if __name__ == "__main__":
    main()
