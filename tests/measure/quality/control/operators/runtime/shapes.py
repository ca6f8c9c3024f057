"""The number of elements, counted axis by axis, and vectors as shapes."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import Array, Type, operator, refuse
from tests.measure.quality.control.summation import Freedom


@operator("size", lambda node, operands: Type((), "int64"))
def _size(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    count = 1
    for size in operands[0].shape:
        count *= size
    return np.array(count, np.int64)


def _infer_shape(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    if x.rank != 1:
        raise refuse(node, f"no shape is made of a tensor of rank {x.rank}")
    if x.dtype not in ("int16", "int32", "int64"):
        raise refuse(node, f"no shape is made of the dtype {x.dtype}")
    return Type(x.shape, "int64", x.values)


@operator("tensor_to_shape", _infer_shape)
def _tensor_to_shape(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return operands[0].astype(np.int64)
