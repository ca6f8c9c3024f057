"""Sums that undo a broadcast: the elements that one element was repeated to, added up."""

from collections.abc import Callable, Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Infer,
    Type,
    one_dtype,
    operator,
    refuse,
    wholes,
)
from tests.measure.quality.control.rounding import computed_in
from tests.measure.quality.control.summation import Freedom, reduced

Target = Callable[[Node, Sequence[Type]], tuple[int, ...]]


def _infer(target: Target) -> Infer:
    def infer(node: Node, operands: Sequence[Type]) -> Type:
        x, shape = operands[0], target(node, operands)
        fits = len(shape) <= x.rank and all(
            n in (1, size) for n, size in zip(shape[::-1], x.shape[::-1], strict=False)
        )
        if not fits:
            raise refuse(node, f"the shape {list(shape)} does not broadcast to {list(x.shape)}")
        return Type(shape, one_dtype(node, operands))

    return infer


def _declare(name: str, target: Target) -> None:
    @operator(name, _infer(target))
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        x = operands[0]
        shape = target(node, [Type(each.shape, each.dtype.name) for each in operands])
        # Elements that one element was repeated to, in a row each.
        rows: list[list[tuple[int, ...]]] = [[] for _ in range(int(np.prod(shape)))]
        more = x.ndim - len(shape)
        for place in np.ndindex(x.shape):
            kept = [0 if n == 1 else at for at, n in zip(place[more:], shape, strict=True)]
            rows[int(np.ravel_multi_index(kept, shape)) if shape else 0].append(place)
        count = len(rows[0]) if rows else 0
        values = np.array([[x[place] for place in row] for row in rows], x.dtype)
        values = values.reshape(len(rows), count).T

        def total(each: Array) -> Array:
            return reduced(each, freedom)

        if x.dtype.name not in FLOATS:
            return total(values).reshape(shape)
        return computed_in(x.dtype, freedom, values, compute=total).reshape(shape)


_declare("collapse_sum_to", lambda node, operands: wholes(node, "shape"))
_declare("collapse_sum_like", lambda node, operands: operands[1].shape)
