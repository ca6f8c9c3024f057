"""The reference's tables of vectors."""

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import integer, text
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluation import (
    Numerics,
    operator,
    operator_with_numerics,
    same_dtype,
)
from relaxcheck.oracles.reference.mixed_precision import always_narrowed, stored
from relaxcheck.oracles.reference.operators.movement import moved


@operator_with_numerics("outer")
def _outer(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    dtype = same_dtype(node, operands)
    if any(each.value.ndim != 1 for each in operands):
        raise ValueError("an outer product is of vectors")
    a, b = always_narrowed(operands, numerics)
    rows = moved(a, lambda each: each[:, None])
    return stored(bounds.multiplied(rows, b, dtype), numerics)


@operator("meshgrid")
def _meshgrid(node: Node, operands: list[Estimate]) -> Estimate:
    item, indexing = integer(node, ITEM), text(node, "indexing", "ij")
    if indexing not in ("ij", "xy") or any(each.value.ndim != 1 for each in operands):
        raise ValueError(f"no grid of indexing {indexing} over these tensors")
    axes = list(range(len(operands)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    sizes = [operands[axis].value.size for axis in axes]
    along = [-1 if axis == item else 1 for axis in axes]
    return moved(operands[item], lambda each: np.broadcast_to(each.reshape(along), sizes))
