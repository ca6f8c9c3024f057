"""The reference's gradients of operators that read elements."""

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import axis_of
from relaxcheck.oracles.reference.averages import ONE
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluation import operator, same_dtype
from relaxcheck.oracles.reference.operators.movement import in_bounds, places_of


@operator("grad.take_backward")
def _take_backward(node: Node, operands: list[Estimate]) -> Estimate:
    gradient, x, indices = operands
    dtype = same_dtype(node, [gradient, x])
    shape, places = x.value.shape, places_of(indices)
    if node.attributes.get("axis") is None and len(shape) != 1:
        raise ValueError("take without an axis wants a vector")
    axis = axis_of(node, "axis", len(shape)) if node.attributes.get("axis") is not None else 0
    wanted = (*shape[:axis], *places.shape, *shape[axis + 1 :])
    if gradient.value.shape != wanted:
        raise ValueError(f"a gradient of shape {gradient.value.shape}, not {wanted}")
    in_bounds(indices, shape[axis])
    flat = places.ravel()

    def collected(a: Array, b: Array) -> Array:
        terms = a * b
        rows = terms.reshape(*shape[:axis], flat.size, *shape[axis + 1 :])
        result = np.zeros(shape, terms.dtype)
        np.add.at(np.moveaxis(result, axis, 0), flat, np.moveaxis(rows, axis, 0))
        return result

    return bounds.sum_of_products(gradient, ONE, collected, dtype)
