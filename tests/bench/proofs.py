"""What the prover proves of what random programs need of their dimensions, and what that costs.

    python -m tests.bench.proofs                 # a table: needs by what proves them, and the time
    python -m tests.bench.proofs --programs 1000

The programs are those of the family ``dynamic``, of one to eight steps and every operator in turn;
the needs are those of ``fixes/shape_needs.py``, which the shape guard checks where it cannot prove
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

import fixes
from fixes import prover, shape_forms, shape_needs, solver, tvm_api, tvm_api_forms, tvm_api_shapes
from fixes.prover import Level
from fixes.tvm_api_functions import functions
from fixes.tvm_api_functions import sequence as sequence_of
from generators import dynamic, emission
from generators.axes import complete

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
class Found:
    """Needs by what becomes of them, the seconds each took, and those that nothing proves."""

    programs: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    before: list[float] = field(default_factory=list)
    """What asking the analyzer twice took, for it and for its negation, as was done before."""
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
    found: dict[str, Any] = {}
    for _, function in functions(module):
        for block in sequence_of(function.body).blocks:
            for binding in block.bindings:
                if not isinstance(binding.value, relax.Call):
                    continue
                for need in shape_needs.of(binding.value):
                    found.setdefault(str(need.condition), need.condition)
    return list(found.values())


def _timed(ask: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    answer = ask()
    return answer, time.perf_counter() - start


def _fate(condition: Any, level: Level | None) -> str:
    if not tvm_api_shapes.variables(condition):
        return SIZES
    if level is not None:
        return _BY[level]
    form = tvm_api_forms.form_of(condition)
    values = [shape_forms.value(form, point) for point in shape_forms.points(form)] if form else []
    return FALSE if False in values else UNPROVED


def measured(count: int) -> Found:
    """What becomes of the needs of ``count`` programs."""
    found = Found()
    with fixes.install():
        for module in programs(count):
            found.programs += 1
            for condition in needs(module):
                prover.forget()
                level, seconds = _timed(lambda one=condition: prover.proved_by(one))
                fate = _fate(condition, level)
                found.counts[fate] += 1
                found.seconds.setdefault(fate, []).append(seconds)
                if fate == UNPROVED:
                    found.unproved[tvm_api.show(condition)] += 1
                if fate != SIZES:
                    proved, took = _timed(lambda one=condition: _as_before(one))
                    found.before.append(took)
                    found.proved_before += proved
    return found


def _as_before(condition: Any) -> bool:
    analyzer = tvm_api_shapes.sizes_analyzer([condition])
    if analyzer.can_prove(condition):
        return True
    analyzer.can_prove(tvm_api.negated(condition))
    return False


def table(found: Found) -> str:
    """Markdown: by what becomes of needs, how many, the median and the largest time in ms."""
    lines = ["| needs | | ms, median | ms, largest |", "|---|---:|---:|---:|"]
    for fate in (SIZES, *_BY.values(), FALSE, UNPROVED):
        times = [1000 * one for one in found.seconds.get(fate, [])]
        figures = f"{median(times):.2f} | {max(times):.1f}" if times else " | "
        lines.append(f"| {fate} | {found.counts[fate]} | {figures} |")
    total = 1000 * sum(map(sum, found.seconds.values()))
    lines += [
        "",
        f"{found.programs} programs, {sum(found.counts.values())} needs, {total:.0f} ms in all;"
        f" the analyzer alone, asked as it was before, proves {found.proved_before} of those that"
        f" are no numbers in {1000 * sum(found.before):.0f} ms."
        f" z3 is {'' if solver.available() else 'not '}installed.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table, and what nothing proves."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--programs", type=int, default=300)
    found = measured(parser.parse_args().programs)
    print(table(found))
    for claim, times in found.unproved.most_common():
        print(f"{times} × {claim}")


if __name__ == "__main__":
    main()
