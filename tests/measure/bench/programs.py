"""CPU milliseconds to draw a program, by its number of steps.

python -m tests.measure.bench.programs
"""

import time
from collections.abc import Callable

import typer

STEPS = (1, 4, 8)
PROGRAMS = 200
WARM = 100
"""Programs that are drawn before the clock starts: dimensions are simplified once a process."""


def measured(build: Callable[[int], object]) -> float:
    """CPU milliseconds a call of ``build``, whose argument is a seed."""
    for seed in range(WARM):
        build(seed)
    begun = time.process_time()
    for seed in range(WARM, WARM + PROGRAMS):
        build(seed)
    return (time.process_time() - begun) * 1000 / PROGRAMS


def costs() -> dict[int, float]:
    """CPU milliseconds a program, by number of steps."""
    from relaxcheck.generators.core.axes import complete
    from relaxcheck.generators.graphs.family import family

    drawn = family(("build",))
    points = {steps: complete(drawn.axes, {"steps": steps}) for steps in STEPS}
    return {
        steps: measured(lambda seed, point=point: drawn.build(point, seed))  # type: ignore[misc]
        for steps, point in points.items()
    }


def main() -> None:
    """Print a table: CPU milliseconds a program, by its number of steps."""
    print("| steps | ms a program |\n|---:|---:|")
    for steps, cost in costs().items():
        print(f"| {steps} | {cost:.2f} |")


if __name__ == "__main__":
    typer.run(main)
