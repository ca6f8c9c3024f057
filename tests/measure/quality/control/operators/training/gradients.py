"""Gradients of operators that read elements: one place after the other."""

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


def _axis(node: Node, rank: int) -> int:
    if node.attributes.get("axis") is None:
        if rank != 1:
            raise refuse(node, f"axis is missing, and the tensor has rank {rank}")
        return 0
    return axis_of(node, rank)


def _infer_take(node: Node, operands: Sequence[Type]) -> Type:
    gradient, x, indices = operands
    one_dtype(node, [gradient, x], FLOATS)
    if not indices.dtype.startswith(("int", "uint")):
        raise refuse(node, f"the dtype of the indices is {indices.dtype}, not an integer's")
    axis = _axis(node, x.rank)
    wanted = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if gradient.shape != wanted:
        raise refuse(node, f"the gradient has the shape {gradient.shape}, not {wanted} (ndim)")
    return x


@operator("grad.take_backward", _infer_take)
def _take_backward(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    x, indices = operands[1:]
    axis = _axis(node, x.ndim)
    places = list(np.ndindex(indices.shape))
    order = freedom.permutation(len(places))

    def collected(gradient: Array) -> Array:
        result = np.zeros(x.shape, gradient.dtype)
        lines = np.moveaxis(result, axis, 0)
        for number in order:
            read = (*(slice(None),) * axis, *places[number])
            lines[int(indices[places[number]])] += gradient[read]
        return result

    return computed_in(x.dtype, freedom, operands[0], compute=collected)
