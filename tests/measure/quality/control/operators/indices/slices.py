"""Operators that write slices and reverse sequences: one element after the other."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    Array,
    Type,
    axis_of,
    one_dtype,
    operator,
    refuse,
    wholes,
)
from tests.measure.quality.control.operators.movement import along, replaced
from tests.measure.quality.control.summation import Freedom


def _written(node: Node, size: int) -> list[int]:
    """The places along the axis that are written."""
    ((start,), (end,), (step,)) = (wholes(node, name) for name in ("start", "end", "step"))
    if step < 1:
        raise refuse(node, f"step is {step}")
    return list(range(start, end, step))


def _infer_slice(node: Node, operands: Sequence[Type]) -> Type:
    data, source = operands
    one_dtype(node, operands)
    axis = axis_of(node, data.rank, default=0)
    wanted = replaced(data.shape, axis, len(_written(node, data.shape[axis])))
    if source.shape != wanted:
        raise refuse(node, f"the shape of src is {source.shape}, not {wanted}")
    return data


@operator("slice_scatter", _infer_slice)
def _slice_scatter(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, source = operands
    axis = axis_of(node, data.ndim, default=0)
    result = data.copy()
    lines = np.moveaxis(result, axis, 0)
    for at, place in enumerate(_written(node, data.shape[axis])):
        lines[place] = along(source, axis, [at]).reshape(lines[place].shape)
    return result


def _infer_reversed(node: Node, operands: Sequence[Type]) -> Type:
    data, lengths = operands
    along_axis = axis_of(node, data.rank, "seq_axis", 1)
    batch = axis_of(node, data.rank, "batch_axis", 0)
    if along_axis == batch:
        raise refuse(node, f"seq_axis and batch_axis are both {batch}")
    if not lengths.dtype.startswith("int") or lengths.shape != (data.shape[batch],):
        raise refuse(node, f"lengths of dtype {lengths.dtype} and shape {lengths.shape}")
    return data


@operator("reverse_sequence", _infer_reversed)
def _reverse_sequence(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, lengths = operands
    along_axis = axis_of(node, data.ndim, "seq_axis", 1)
    batch = axis_of(node, data.ndim, "batch_axis", 0)
    result = np.empty_like(data)
    for place in np.ndindex(data.shape):
        length, at = int(lengths[place[batch]]), place[along_axis]
        source = length - 1 - at if at < length else at
        result[place] = data[(*place[:along_axis], source, *place[along_axis + 1 :])]
    return result
