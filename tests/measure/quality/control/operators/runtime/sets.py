"""Places that are not zero, and different elements, found by going through the data once."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from tests.measure.quality.control.operator import (
    Array,
    Type,
    UnknownShape,
    axis_of,
    flag,
    operator,
    whole,
)
from tests.measure.quality.control.summation import Freedom


def _infer_nonzero(node: Node, operands: Sequence[Type]) -> Type:
    raise UnknownShape(node.name)


@operator("nonzero", _infer_nonzero)
def _nonzero(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    x = operands[0].reshape(operands[0].shape or (1,))
    flat = [at for at, element in enumerate(x.ravel().tolist()) if element != 0]
    rows = [[(at // _below(x, axis)) % x.shape[axis] for at in flat] for axis in range(x.ndim)]
    return np.array(rows, np.int64).reshape(x.ndim, len(flat))


def _below(x: Array, axis: int) -> int:
    """The elements of one step along ``axis``."""
    count = 1
    for size in x.shape[axis + 1 :]:
        count *= size
    return count


def _infer_unique(node: Node, operands: Sequence[Type]) -> Type:
    if node.attributes.get("axis") is not None:
        axis_of(node, operands[0].rank)
    raise UnknownShape(node.name)


@operator("unique", _infer_unique)
def _unique(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    axis = 0
    if node.attributes.get("axis") is None:
        x = x.reshape(x.size)
    else:
        axis = axis_of(node, x.ndim)
    rows = [x.take(at, axis) for at in range(x.shape[axis])]
    kept: list[int] = []
    numbers: list[int] = []
    for at, row in enumerate(rows):
        alike = (k for k, first in enumerate(kept) if np.array_equal(rows[first], row))
        number = next(alike, len(kept))
        if number == len(kept):
            kept.append(at)
        numbers.append(number)
    order = list(range(len(kept)))
    if flag(node, "sorted", True):
        order.sort(key=lambda k: rows[kept[k]].ravel().tolist())
    item = whole(node, ITEM, 0)
    if not item:
        return x.take(np.array([kept[k] for k in order], np.int64), axis)
    wanted = {
        "return_index": [kept[k] for k in order],
        "return_inverse": [order.index(number) for number in numbers],
        "return_counts": [numbers.count(k) for k in order],
    }
    asked = [name for name in wanted if flag(node, name, False)]
    return np.array(wanted[asked[item - 1]], np.int64)
