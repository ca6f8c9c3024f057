"""Calls of ``vision.all_class_non_max_suppression`` for tests of oracles."""

from collections.abc import Sequence

from relaxcheck.generators.core.fills.drawn import Boxes, Ranked
from relaxcheck.generators.core.fills.kinds import Fill, Literal
from relaxcheck.generators.core.program import Program
from tests.oracles.agreeing import program_of

Box = tuple[float, float, float, float]

NAME = "vision.all_class_non_max_suppression"


def detected(
    dtype: str = "float32",
    *,
    boxes: Sequence[Box] = (),
    scores: Sequence[Sequence[float]] = (),
    limits: tuple[int, float, float] = (100, 0.5, 0.0),
    item: int = 0,
    output_format: str = "onnx",
) -> Program:
    """A call on one image of ``boxes`` and ``scores``, a row a class; drawn where there are none.

    ``limits`` are the most boxes of a class, the most overlap and the least score.
    """
    fills: list[Fill] = [Boxes(turned=True), Ranked()]
    shapes: list[tuple[int, ...]] = [(2, 9, 4), (2, 3, 9)]
    if boxes:
        fills = [
            Literal(tuple(number for row in rows for number in row)) for rows in (boxes, scores)
        ]
        shapes = [(1, len(boxes), 4), (1, len(scores), len(boxes))]
    return program_of(
        NAME,
        [*shapes, (), (), ()],
        [dtype, dtype, "int64", "float32", "float32"],
        [*fills, *(Literal((number,)) for number in limits)],
        item=item,
        output_format=output_format,
    )
