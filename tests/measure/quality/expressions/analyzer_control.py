"""A control of the checks of expressions: what is right by construction, in TVM's place.

    python -m tests.measure.quality.expressions.analyzer_control  # 250 blocks, two minutes
    python -m tests.measure.quality.expressions.analyzer_control --blocks 1000 --seed 2

Blocks are drawn as a campaign draws them. In position ``analyzer`` an analyzer that rewrites as
processors and unbounded integers allow (``ideal_session``) is asked in place of TVM's; elsewhere
expressions are interpreted in place of compiled. Prints how many expressions were checked by
position, and each that fails. Ends with 1 where one does, or where a position had nothing to check.
Section ``expressions`` of ``python -m tests.measure.quality`` does it with more conditions.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

from relaxcheck.generators.core.axes import Axis, points
from relaxcheck.generators.core.sampling import draw
from relaxcheck.generators.expressions.cases import (
    DEFINED,
    POSITIONS,
    ExpressionBatch,
    ExpressionCase,
)
from relaxcheck.generators.expressions.family import family
from relaxcheck.harness.expressions.execute import execute_expressions
from tests.harness.expressions import interpreted_kernels


def drawn(blocks: int, seed: int, axes: Sequence[Axis] = ()) -> list[ExpressionBatch]:
    """About ``blocks`` of them, drawn from ``axes``, at points at which a right answer is known.

    Where an expression has no value any answer is right. Without ``axes``, those of the family.
    """
    some = draw(points(axes or family().axes), blocks, seed)
    return [
        family().build(point, seed * 1_000_003 + number)
        for number, point in enumerate(some)
        if point["points"] == DEFINED
    ]


def checked(blocks: Iterable[ExpressionBatch]) -> tuple[Counter[str], list[ExpressionCase]]:
    """The number of checked expressions of ``blocks`` by position, and the failing ones."""
    counts: Counter[str] = Counter()
    failed: list[ExpressionCase] = []
    with pytest.MonkeyPatch.context() as patch:
        interpreted_kernels.put_in_place(patch)
        for number, block in enumerate(blocks):
            outcome = execute_expressions(block, lambda _: None)
            counts[block.position] += outcome.checked
            failed += outcome.parts
            if number % 25 == 24:
                print(f"{number + 1} blocks", file=sys.stderr, flush=True)
    return counts, failed


def main() -> None:
    """Check them, and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", type=int, default=250)
    options = parser.parse_args()
    counts, failed = checked(drawn(options.blocks, options.seed))
    for case in failed:
        print(f"{case.position}: {case.subject}")
    listed = ", ".join(f"{position}: {counts[position]}" for position in POSITIONS)
    print(f"{sum(counts.values())} expressions checked ({listed}); {len(failed)} fail")
    sys.exit(bool(failed) or not all(counts[position] for position in POSITIONS))


if __name__ == "__main__":
    main()
