"""Pixel shuffle, gathered: three index arrays say where each element of the result comes from."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import Array, Type, operator, refuse, whole
from tests.measure.quality.control.summation import Freedom


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    (data,) = operands
    factor = whole(node, "upscale_factor")
    if factor < 1:
        raise refuse(node, f"upscale_factor {factor} is below 1")
    if data.rank < 3:
        raise refuse(node, f"a tensor of rank {data.rank} has no channels, height and width")
    *front, channels, height, width = data.shape
    if channels % factor**2:
        raise refuse(node, f"{channels} channels are no multiple of {factor**2}")
    return Type((*front, channels // factor**2, height * factor, width * factor), data.dtype)


@operator("nn.pixel_shuffle", _infer)
def _pixel_shuffle(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (data,) = operands
    factor = whole(node, "upscale_factor")
    shape = _infer(node, [Type(data.shape, data.dtype.name)]).shape[-3:]
    channel, row, column = np.indices(shape, np.int64)
    from_channel = (channel * factor + row % factor) * factor + column % factor
    result: Array = data[..., from_channel, row // factor, column // factor]
    return result
