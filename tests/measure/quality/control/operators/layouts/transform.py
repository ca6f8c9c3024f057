"""Tensors in another layout, element after element."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.attributes import IndexMap, index_map_of
from relaxcheck.generators.core.dims import fold
from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import Array, Type, number, operator, refuse, text
from tests.measure.quality.control.summation import Freedom


def _shape(index_map: IndexMap, shape: Sequence[int]) -> tuple[int, ...]:
    last = {name: size - 1 for name, size in zip(index_map.names, shape, strict=True)}

    def binary(sign: str, left: int, right: int) -> int:
        if sign == "%":
            return right - 1
        return left // right if sign == "//" else left * right if sign == "*" else left + right

    return tuple(
        fold(result, lambda value: value, lambda name: last[name], binary) + 1
        for result in index_map.results
    )


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    (x,), index_map = operands, index_map_of(text(node, "index_map", ""))
    if len(index_map.names) != x.rank:
        raise refuse(node, f"{len(index_map.names)} indices of a tensor of rank {x.rank}")
    pad = number(node, "pad_value", 0)
    if "float" not in x.dtype and not pad.is_integer():
        raise refuse(node, f"pad_value {pad} of the dtype {x.dtype}")
    return Type(_shape(index_map, x.shape), x.dtype)


@operator("layout_transform", _infer)
def _layout_transform(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,), index_map = operands, index_map_of(text(node, "index_map", ""))
    free = node.attributes.get("pad_value") is None
    pad = freedom.choice(("0", "1")) if free else number(node, "pad_value")
    result = np.full(_shape(index_map, x.shape), float(pad)).astype(x.dtype)
    for place in np.ndindex(x.shape):
        names = dict(zip(index_map.names, place, strict=True))
        result[index_map.places(names)] = x[place]
    return result
