"""The reference's ranges, windows, and ones at indices."""

from math import ceil

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import OutOfBounds
from relaxcheck.oracles.reference.attribute_values import flag, integer, number, text
from relaxcheck.oracles.reference.bounds import cast, computed
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact, unknown
from relaxcheck.oracles.reference.evaluation import operator


def _extent(node: Node, name: str, default: float) -> float:
    """A number, or the only dimension of a shape."""
    value = node.attributes.get(name)
    if isinstance(value, tuple):
        (value,) = value
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{node.operator}: {name} {value!r} is not a number")
    return value


@operator("arange")
def _arange(node: Node, operands: list[Estimate]) -> Estimate:
    start, step = _extent(node, "start", 0), _extent(node, "step", 1)
    end = _extent(node, "end", start)
    if node.attributes.get("end") is None:
        start = 0
    if step == 0:
        raise ValueError("a range without a step does not end")
    whole = all(isinstance(each, int) for each in (start, end, step))
    dtype = text(node, "dtype", "int64" if whole else "float32")
    count = max(ceil((end - start) / step), 0)
    values = start + step * np.arange(count)
    if dtype in FORMATS:
        return cast(exact(values.astype(np.float64), "float64"), dtype)
    return exact(values.astype(np.int64), dtype)


@operator("hamming_window")
def _hamming_window(node: Node, operands: list[Estimate]) -> Estimate:
    """The angle is a product and a quotient of rounded numbers, the cosine a library's.

    An angle that is off by d makes the cosine off by at most d.
    """
    size, dtype = integer(node, "window_size"), text(node, "dtype")
    alpha, beta = number(node, "alpha"), number(node, "beta")
    if size == 1:
        return exact(np.ones(1), dtype)
    span = size if flag(node, "periodic", True) else size - 1
    angle = 2 * np.longdouble(np.pi) * np.arange(size) / span
    value = alpha - beta * np.cos(angle)
    target = FORMATS[dtype]
    # 2 pi, the product and the quotient round; so do cosine, its product, and alpha and beta.
    off = abs(beta) * (4 * angle.astype(np.float64) + 4) + abs(alpha)
    return computed(dtype, value, off * target.unit, 1)


@operator("one_hot")
def _one_hot(node: Node, operands: list[Estimate]) -> Estimate:
    (indices,) = operands
    depth, rank = integer(node, "depth"), indices.value.ndim + 1
    axis = integer(node, "axis", -1)
    if depth < 0 or not -rank <= axis < rank:
        raise ValueError(f"no depth {depth}, or no axis {axis} of {rank}")
    if ((indices.value < 0) | (indices.value >= depth)).any():
        raise OutOfBounds(f"an index is not below {depth}")
    if unknown(indices).any():
        raise ValueError("an index is not known")
    on, off = number(node, "on_value"), number(node, "off_value")
    kind = np.float64 if isinstance(node.attributes["on_value"], float) else np.int64
    places = np.expand_dims(indices.value, axis)
    numbers = np.arange(depth).reshape(-1, *(1,) * (rank - 1 - axis % rank))
    hot = np.where(places == numbers, np.float64(on), np.float64(off))
    return exact(hot.astype(kind), np.dtype(kind).name)
