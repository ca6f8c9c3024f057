"""CPU milliseconds to draw a program, by its number of steps.

python -m tests.measure.bench.programs                      # of this checkout
python -m tests.measure.bench.programs --before CHECKOUT    # and of an earlier one: the ratio
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

STEPS = (1, 4, 8)
PROGRAMS = 200
WARM = 100
"""Programs that are drawn before the clock starts: dimensions are simplified once a process."""

_BEFORE = """
import time
from generators.axes import complete
from generators.dynamic import family
FAMILY = family(("build",))
for steps in {steps}:
    point = complete(FAMILY.axes, {{"steps": steps}})
    for seed in range({warm}):
        FAMILY.build(point, seed)
    begun = time.process_time()
    for seed in range({warm}, {warm} + {programs}):
        FAMILY.build(point, seed)
    print(steps, (time.process_time() - begun) * 1000 / {programs})
"""


def measured(build: Callable[[int], object]) -> float:
    """CPU milliseconds a call of ``build``, whose argument is a seed."""
    for seed in range(WARM):
        build(seed)
    begun = time.process_time()
    for seed in range(WARM, WARM + PROGRAMS):
        build(seed)
    return (time.process_time() - begun) * 1000 / PROGRAMS


def now() -> dict[int, float]:
    """By number of steps what this checkout takes."""
    from relaxcheck.generators.core.axes import complete
    from relaxcheck.generators.graphs.family import family

    drawn = family(("build",))
    points = {steps: complete(drawn.axes, {"steps": steps}) for steps in STEPS}
    return {
        steps: measured(lambda seed, point=point: drawn.build(point, seed))  # type: ignore[misc]
        for steps, point in points.items()
    }


def before(checkout: Path) -> dict[int, float]:
    """By number of steps what the generator in ``checkout`` takes."""
    script = _BEFORE.format(steps=STEPS, warm=WARM, programs=PROGRAMS)
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    # Where it runs comes first on the path.
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = (line.split() for line in ended.stdout.splitlines())
    return {int(steps): float(cost) for steps, cost in rows}


def main(
    compared: Annotated[Path | None, typer.Option("--before", help="An earlier checkout.")] = None,
) -> None:
    """Print a table: CPU milliseconds a program, by its number of steps."""
    costs = now()
    if compared is None:
        print("| steps | ms a program |\n|---:|---:|")
        for steps, cost in costs.items():
            print(f"| {steps} | {cost:.2f} |")
        return
    earlier = before(compared)
    print("| steps | ms a program | before | ratio |\n|---:|---:|---:|---:|")
    for steps, cost in costs.items():
        print(f"| {steps} | {cost:.2f} | {earlier[steps]:.2f} | {cost / earlier[steps]:.1f} |")


if __name__ == "__main__":
    typer.run(main)
