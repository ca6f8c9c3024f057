"""``image.affine_grid``: one coordinate after the other, and one product at a time."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    flag,
    one_dtype,
    operator,
    refuse,
    wholes,
)
from tests.measure.quality.control.rounding import constant
from tests.measure.quality.control.summation import WIDER, Freedom, Term, summed


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    (matrices,), size = operands, wholes(node, "size")
    dtype, rank = one_dtype(node, operands, FLOATS), len(size)
    if rank not in (2, 3):
        raise refuse(node, f"size {list(size)} is of {rank} axes")
    if matrices.shape[1:] != (rank, rank + 1):
        raise refuse(node, f"shape {matrices.shape} of matrices for a grid of {rank} axes")
    least = 2 if flag(node, "align_corners", True) else 1
    if min(size) < least:
        raise refuse(node, f"size {list(size)} has a number below {least}")
    return Type((matrices.shape[0], rank, *size), dtype)


@operator("image.affine_grid", _infer)
def _affine_grid(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (matrices,) = operands
    size, aligned = wholes(node, "size"), flag(node, "align_corners", True)
    rank = len(size)
    result = np.zeros((len(matrices), rank, *size), matrices.dtype)
    lines = [_line(count, aligned, matrices, freedom) for count in size]
    places = np.meshgrid(*lines, indexing="ij")
    for row in range(rank):
        cells = [matrices[:, row, column].reshape(-1, *[1] * rank) for column in range(rank + 1)]
        terms = [Term(cells[at], places[rank - 1 - at][None]) for at in range(rank)]
        terms.append(Term(cells[rank], np.ones((1,) * (rank + 1), matrices.dtype)))
        result[:, row] = summed(terms, result[:, row].shape, matrices.dtype, freedom)
    return result


def _line(count: int, aligned: bool, like: Array, freedom: Freedom) -> Array:
    """The coordinates of ``count`` places: by a step from the first, or each by itself."""
    dtype = like.dtype
    if freedom.choice(("step", "each")) == "each":
        wide = np.arange(count, dtype=WIDER[dtype.name])
        exact = 2 * wide / (count - 1) - 1 if aligned else (2 * wide + 1) / count - 1
        return exact.astype(dtype)
    first = constant(-1 if aligned else 1 / np.longdouble(count) - 1, like)
    step = constant(2 / np.longdouble(count - aligned), like)
    line: Array = (first + (np.arange(count).astype(dtype) * step).astype(dtype)).astype(dtype)
    return line
