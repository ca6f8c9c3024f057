"""How many compiled expressions are checked in a second of one core, and through the engine.

    python -m tests.bench.compiled              # a table
    python -m tests.bench.compiled --count 512

``alone`` is the loop that one would write first: a module for each expression. ``block`` is what a
worker does with one block of what is drawn, the drawing included.
"""

import argparse
import time
from collections.abc import Callable

from generators.algebra_case import ExpressionCase
from generators.algebra_family import family
from generators.axes import complete
from generators.expression_cases import INDEX, POSITIONS, SHAPE, VALUE
from generators.expressions import nodes
from harness.compiled_expressions import compiled_faults
from harness.conduct_expressions import conduct_expressions
from harness.kernels import How

FAMILY = family()
COMPILED = (VALUE, INDEX, SHAPE)
WANTED = 200
"""Compiled expressions a second, whatever they are compiled as."""
_PART = 64
"""As many as are in a block."""


def drawn(position: str, count: int) -> list[ExpressionCase]:
    """Drawn cases of every kind that have a place in ``position``, of signed integers.

    Without conditional expressions: of some that divide in a branch TVM's kernels die.
    """
    found: list[ExpressionCase] = []
    kinds = next(axis for axis in FAMILY.axes if axis.name == "kind")
    number = 0
    while len(found) < count:
        dtype = "int64" if position == SHAPE else ("int32", "int64")[number % 2]
        chosen = {"position": position, "dtype": dtype, "depth": 2}
        for kind in kinds.choices(chosen):
            point = complete(FAMILY.axes, {**chosen, "kind": kind})
            subjects = (one.subject for one in FAMILY.build(point, number).members[:8])
            found += (
                one
                for one in subjects
                if all(node.operator != "if_then_else" for node in nodes(one.expression))
            )
        number += 1
    return found[:count]


def together(cases: list[ExpressionCase], position: str, opt_level: int) -> int:
    """Blocks of them, each a module."""
    found = [
        faults
        for at in range(0, len(cases), _PART)
        for faults in compiled_faults(cases[at : at + _PART], position, How(opt_level))
    ]
    return sum(faults is not None for faults in found)


def alone(cases: list[ExpressionCase], position: str, opt_level: int) -> int:
    """Each by itself."""
    found = [compiled_faults([one], position, How(opt_level))[0] for one in cases]
    return sum(faults is not None for faults in found)


def rate(work: Callable[[], int]) -> float:
    """How many of what ``work`` counts are done in a second of one core."""
    start = time.process_time()
    done = work()
    return done / (time.process_time() - start)


def block_rate(position: str) -> float:
    """What a worker does with a block at the defaults of every axis."""
    chosen = {"position": position} | ({"dtype": "int64"} if position == SHAPE else {})
    case = FAMILY.build(complete(FAMILY.axes, chosen), 3)
    conduct_expressions(case, lambda stage: None)
    return rate(lambda: conduct_expressions(case, lambda stage: None).checked)


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
            said = f"  (wanted: {wanted})" if wanted else ""
            print(f"{position:6} {name:24} {figure:8,.0f} a second{said}")
    for position in POSITIONS:
        print(f"{position:8} {'a block':22} {block_rate(position):8,.0f} a second")


if __name__ == "__main__":
    main()
