"""Programs of whole graphs and for passes: drawn, compiled and judged a second of CPU time.

python -m tests.measure.bench.graphs
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import typer

from relaxcheck.generators.core.program import Case
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool

CASES = 60
WARM = 10
"""Cases before the clock starts: dimensions are simplified and kernels are compiled once."""

MOST_DRAWING = 0.1
"""The share of the time that drawing may take."""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds for ``cases``: to draw them, in TVM, and to ask and compare with the oracles."""

    cases: int
    drawing: float
    tvm: float
    judging: float

    @property
    def share(self) -> float:
        """The share of drawing."""
        return self.drawing / (self.drawing + self.tvm + self.judging)


def drawn(family: str, count: int) -> tuple[list[Case], float]:
    """``count`` cases of ``family`` as a campaign steers them, and the seconds behind the first."""
    from relaxcheck.generators.core.coverage.steering import Steering
    from relaxcheck.generators.families import every

    own = next(each for each in every(("build", "default-pipeline")) if each.name == family)
    steering = Steering(own.axes)
    cases = []
    begun = time.process_time()
    for seed in range(WARM + count):
        if seed == WARM:
            begun = time.process_time()
        cases.append(own.build(steering.point(seed * 7919 + 1), seed))
    spent = time.process_time() - begun
    return [case for case in cases if isinstance(case, Case)], spent


def cost(cases: Sequence[Case], drawing: float) -> Cost:
    """The cost of ``cases`` in one worker, which compiles several together, after the first."""
    parts: dict[str, float] = {}
    with Pool(1) as pool:
        for counted, some in ((False, cases[:WARM]), (True, cases[WARM:])):
            pool.submit(*map(Job, some))
            for _, outcome in pool.drain():
                for name, seconds in outcome.seconds.items() if counted else ():
                    parts[name] = parts.get(name, 0.0) + seconds
    tvm = parts.pop("tvm", 0.0)
    return Cost(len(cases) - WARM, drawing, tvm, sum(parts.values()))


def table(costs: Mapping[str, Cost]) -> str:
    """A row for each family."""
    lines = ["| family | drawn | compiled | judged | drawing |", "|---|---:|---:|---:|---:|"]
    for name, each in costs.items():
        rates = (each.cases / max(part, 1e-9) for part in (each.drawing, each.tvm, each.judging))
        drawn_rate, compiled_rate, judged_rate = rates
        lines.append(
            f"| {name} | {drawn_rate:.1f} | {compiled_rate:.2f} | {judged_rate:.1f} "
            f"| {100 * each.share:.1f} % |"
        )
    return "\n".join(lines)


def main(families: list[str] | None = None, cases: int = CASES) -> None:
    """Print programs a second of CPU time; exit with 1 if drawing takes a tenth or more."""
    costs = {}
    for name in families or ["graphs", "pass-FuseOps", "passes"]:
        print(f"{name}: {cases} cases …", file=sys.stderr)
        costs[name] = cost(*drawn(name, cases))
    print(table(costs))
    if any(each.share >= MOST_DRAWING for each in costs.values()):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
