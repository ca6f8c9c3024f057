"""Views of bytes."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from tests.measure.quality.control.operator import Array, Type, operator, refuse, text, wholes
from tests.measure.quality.control.summation import Freedom


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    (x,) = operands
    result = Type(wholes(node, "shape", x.shape), text(node, "dtype", x.dtype))
    (first,) = wholes(node, "relative_byte_offset", (0,))
    size = numpy_dtype(x.dtype).itemsize * x.size
    end = first + numpy_dtype(result.dtype).itemsize * result.size
    if first < 0 or end > size:
        raise refuse(node, f"bytes {first} to {end} of {size}")
    return result


@operator("memory.view", _infer)
def _view(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    shape = wholes(node, "shape", x.shape)
    dtype = numpy_dtype(text(node, "dtype", x.dtype.name))
    (first,) = wholes(node, "relative_byte_offset", (0,))
    return np.ndarray(shape, dtype, x.tobytes() or bytes(8), first).copy()


@operator("memory.ensure_zero_offset", lambda node, operands: operands[0])
def _ensure_zero_offset(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return operands[0].copy()
