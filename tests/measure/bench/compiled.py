"""The rate of checking compiled expressions, per second of one core and through the engine.

    python -m tests.measure.bench.compiled              # a table
    python -m tests.measure.bench.compiled --count 512

``alone`` is the loop that one would write first: a module for each expression. ``block`` is what a
worker does with one block of what is drawn, the drawing included.
"""

import argparse
import time
from collections.abc import Callable

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.expressions.cases import INDEX, POSITIONS, SHAPE, VALUE
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.language import nodes
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions.compiled import compiled_faults
from relaxcheck.harness.expressions.execute import execute_expressions
from relaxcheck.harness.expressions.kernels import How

FAMILY = family()
COMPILED = (VALUE, INDEX, SHAPE)
WANTED = 200
"""Compiled expressions a second, whatever they are compiled as."""
_PART = 64
"""As many as are in a block."""


def drawn(position: str, count: int) -> list[Problem]:
    """Drawn cases of every kind that have a place in ``position``, of signed integers.

    Without conditional expressions: of some that divide in a branch TVM's kernels die.
    """
    drawn_problems: list[Problem] = []
    kinds = next(axis for axis in FAMILY.axes if axis.name == "kind")
    number = 0
    while len(drawn_problems) < count:
        dtype = "int64" if position == SHAPE else ("int32", "int64")[number % 2]
        chosen = {"position": position, "dtype": dtype, "depth": 2}
        for kind in kinds.choices(chosen):
            point = complete(FAMILY.axes, {**chosen, "kind": kind})
            subjects = (member.subject for member in FAMILY.build(point, number).members[:8])
            drawn_problems += (
                subject
                for subject in subjects
                if all(node.operator != "if_then_else" for node in nodes(subject.expression))
            )
        number += 1
    return drawn_problems[:count]


def together(cases: list[Problem], position: str, opt_level: int) -> int:
    """Blocks of them, each a module."""
    answers = [
        faults
        for at in range(0, len(cases), _PART)
        for faults in compiled_faults(cases[at : at + _PART], position, How(opt_level))
    ]
    return sum(faults is not None for faults in answers)


def alone(cases: list[Problem], position: str, opt_level: int) -> int:
    """Each by itself."""
    answers = [compiled_faults([case], position, How(opt_level))[0] for case in cases]
    return sum(faults is not None for faults in answers)


def rate(work: Callable[[], int]) -> float:
    """The rate of ``work``: its count per second of one core."""
    start = time.process_time()
    done = work()
    return done / (time.process_time() - start)


def block_rate(position: str) -> float:
    """A worker's job for a block at the defaults of every axis."""
    chosen = {"position": position} | ({"dtype": "int64"} if position == SHAPE else {})
    case = FAMILY.build(complete(FAMILY.axes, chosen), 3)
    execute_expressions(case, lambda stage: None)
    return rate(lambda: execute_expressions(case, lambda stage: None).checked)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=256)
    count = parser.parse_args().count
    for position in COMPILED:
        cases = drawn(position, count)
        together(cases[:_PART], position, 0)
        for name, figure, wanted in (
            ("together", rate(lambda: together(cases, position, 0)), WANTED),  # noqa: B023
            ("alone", rate(lambda: alone(cases[: count // 8], position, 0)), None),  # noqa: B023
            (
                "together, LLVM level 3",
                rate(lambda: together(cases[: count // 4], position, 3)),  # noqa: B023
                None,
            ),
        ):
            target = f"  (wanted: {wanted})" if wanted else ""
            print(f"{position:6} {name:24} {figure:8,.0f} a second{target}")
    for position in POSITIONS:
        print(f"{position:8} {'a block':22} {block_rate(position):8,.0f} a second")


if __name__ == "__main__":
    main()
