"""The reference's writing of slices and reversal of sequences."""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.attribute_values import axis_of, integer, integers
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluation import operator, same_dtype
from relaxcheck.oracles.reference.operators.movement import moved


@operator("slice_scatter")
def _slice_scatter(node: Node, operands: list[Estimate]) -> Estimate:
    same_dtype(node, operands)
    data, source = operands
    ((start,), (end,), (step,)) = (integers(node, name) for name in ("start", "end", "step"))
    axis = axis_of(node, "axis", data.value.ndim, 0)
    if step < 1:
        raise ValueError(f"no step {step}")
    part = (slice(None),) * axis + (slice(start, end, step),)

    def written(own: Array, other: Array) -> Array:
        result = own.copy()
        if result[part].shape != other.shape:
            raise ValueError(f"a slice of shape {result[part].shape}, not {other.shape}")
        result[part] = other
        return result

    return replace(
        data,
        value=written(data.value, source.value),
        error=written(data.error, source.error),
        signed=data.signed and source.signed,
    )


@operator("reverse_sequence")
def _reverse_sequence(node: Node, operands: list[Estimate]) -> Estimate:
    data, lengths = operands
    rank = data.value.ndim
    along, batch = integer(node, "seq_axis", 1), integer(node, "batch_axis", 0)
    if not (-rank <= along < rank and -rank <= batch < rank) or along % rank == batch % rank:
        raise ValueError(f"seq_axis {along} and batch_axis {batch} of {rank} axes")
    shape = data.value.shape
    if lengths.value.shape != (shape[batch],):
        raise ValueError(f"lengths of shape {lengths.value.shape} for a batch of {shape[batch]}")

    def wide(array: Array, axis: int) -> Array:
        return array.reshape([-1 if at == axis % rank else 1 for at in range(rank)])

    place = wide(np.arange(shape[along]), along)
    length = wide(lengths.value, batch)
    source = np.broadcast_to(np.where(place < length, length - 1 - place, place), shape)
    return moved(data, lambda each: np.take_along_axis(each, source, along))
