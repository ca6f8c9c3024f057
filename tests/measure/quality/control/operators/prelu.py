"""The parametric rectified linear unit, cut below 0 or at it."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    axis_of,
    one_dtype,
    operator,
    refuse,
)
from tests.measure.quality.control.rounding import computed_in
from tests.measure.quality.control.summation import Freedom

_AXIS = 1


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    data, alpha = operands
    dtype = one_dtype(node, operands, FLOATS)
    channels = data.shape[axis_of(node, data.rank, default=_AXIS)]
    if alpha.shape != (channels,):
        raise refuse(node, f"alpha has the shape {list(alpha.shape)}, not {[channels]}")
    return Type(data.shape, dtype)


@operator("nn.prelu", _infer)
def _prelu(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, alpha = operands
    axis = axis_of(node, data.ndim, default=_AXIS)
    slope = alpha.reshape([-1 if at == axis else 1 for at in range(data.ndim)])
    # TVM multiplies zeros, ONNX copies them.
    copied = np.greater if freedom.choice(("above 0", "from 0")) == "above 0" else np.greater_equal

    def compute(x: Array, a: Array) -> Array:
        return np.where(copied(x, 0), x, a * x)

    return computed_in(data.dtype, freedom, data, slope, compute=compute)
