"""The reference's places that are not zero, and different elements, one after the other."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.answer import Array, Unsupported
from relaxcheck.oracles.reference.attribute_values import integer
from relaxcheck.oracles.reference.estimate import Estimate, exact
from relaxcheck.oracles.reference.evaluation import operator
from relaxcheck.oracles.reference.operators.movement import moved

_ITEMS = ("return_index", "return_inverse", "return_counts")


def _certain(node: Node, operand: Estimate) -> Array:
    """The value of ``operand``, on which the shape of the result depends."""
    if operand.error.any():
        raise Unsupported(f"reference: {node.operator} of elements that are not exact")
    return operand.value


@operator("nonzero")
def _nonzero(node: Node, operands: list[Estimate]) -> Estimate:
    value = np.atleast_1d(_certain(node, operands[0]))
    places = [place for place in np.ndindex(value.shape) if value[place] != 0]
    return exact(np.array(places, np.int64).reshape(-1, value.ndim).T, "int64")


@operator("unique")
def _unique(node: Node, operands: list[Estimate]) -> Estimate:
    value = _certain(node, operands[0])
    if np.isnan(value).any():
        raise ValueError("frameworks count NaN differently")
    axis = 0
    if node.attributes.get("axis") is None:
        value = value.reshape(-1)
    else:
        axis = integer(node, "axis")
        if not -value.ndim <= axis < value.ndim:
            raise ValueError(f"axis {axis} of rank {value.ndim}")
    rows = np.moveaxis(value, axis, 0)
    if len(rows) and not rows[0].size:
        raise ValueError("subtensors without elements")
    keys = [tuple(row.ravel().tolist()) for row in rows]
    different = _different(keys, ascending=node.attributes.get("sorted") is not False)
    item = node.attributes.get(ITEM, 0)
    asked = [name for name in _ITEMS if node.attributes.get(name) is True]
    if item:
        return exact(np.array(_listed(asked[int(str(item)) - 1], keys, different)), "int64")
    first = [keys.index(key) for key in different]
    taken = moved(operands[0], lambda each: np.take(each.reshape(value.shape), first, axis))
    # Which of two zeros stands for both is open.
    return Estimate(taken.value, taken.error, taken.dtype)


Key = tuple[float, ...]


def _different(keys: Sequence[Key], *, ascending: bool) -> list[Key]:
    different = list(dict.fromkeys(keys))
    return sorted(different) if ascending else different


def _listed(name: str, keys: Sequence[Key], different: Sequence[Key]) -> list[int]:
    if name == "return_index":
        return [keys.index(key) for key in different]
    if name == "return_inverse":
        return [different.index(key) for key in keys]
    return [keys.count(key) for key in different]
