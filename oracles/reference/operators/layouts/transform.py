"""The reference's transformation of layouts."""

from math import prod

import numpy as np

from relaxcheck.generators.core.attributes import index_map_of
from relaxcheck.generators.core.dims import fold
from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import number, text
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, exact
from relaxcheck.oracles.reference.evaluation import operator


@operator("layout_transform")
def _layout_transform(node: Node, operands: list[Estimate]) -> Estimate:
    (x,), index_map = operands, index_map_of(text(node, "index_map"))
    old = x.value.shape
    if len(index_map.names) != len(old):
        raise ValueError(f"layout_transform: {len(index_map.names)} indices for rank {len(old)}")
    sizes = dict(zip(index_map.names, old, strict=True))
    shape = tuple(_size(result, sizes) for result in index_map.results)
    grid = dict(zip(index_map.names, np.indices(old), strict=True))
    places = tuple(np.broadcast_to(each, old) for each in index_map.places(grid))
    flat = np.ravel_multi_index(tuple(each.ravel() for each in places), shape)
    if len(np.unique(flat)) != flat.size:
        raise ValueError("layout_transform: two elements move to one place")
    padding = _padding(node, x.dtype)
    value = np.full(prod(shape), padding.value, x.value.dtype)
    error = np.full(prod(shape), padding.error)
    value[flat], error[flat] = x.value.ravel(), x.error.ravel()
    return Estimate(
        value.reshape(shape), error.reshape(shape), x.dtype, half=x.half, signed=x.signed
    )


def _padding(node: Node, dtype: str) -> Estimate:
    """The element of padding, unconstrained where there is no value for it."""
    if node.attributes.get("pad_value") is None:
        value = exact(np.zeros((), np.float64 if dtype in FORMATS else np.int64), dtype)
        return bounds.unconstrain(value, np.ones((), np.bool_))
    pad = number(node, "pad_value")
    if dtype in FORMATS:
        return bounds.cast(exact(np.array(pad), "float64"), dtype)
    if not pad.is_integer():
        raise ValueError(f"layout_transform: pad_value {pad} of {dtype}")
    return exact(np.array(int(pad)), dtype)


def _size(result: str, sizes: dict[str, int]) -> int:
    """One more than the largest value of ``result``, whose remainders take all values."""

    def binary(sign: str, left: int, right: int) -> int:
        if sign == "//":
            return left // right
        return {"+": left + right, "*": left * right, "%": right - 1}[sign]

    return 1 + fold(result, lambda value: value, lambda name: sizes[name] - 1, binary)
