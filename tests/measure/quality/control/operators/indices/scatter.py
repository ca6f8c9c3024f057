"""Operators that write or read at places: one update after the other."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    Array,
    Type,
    axis_of,
    broadcast,
    flag,
    one_dtype,
    operator,
    refuse,
    text,
)
from tests.measure.quality.control.summation import Freedom

Position = tuple[int, ...]

_MEETING: dict[str, Any] = {
    "update": lambda old, new: new,
    "add": np.add,
    "mul": np.multiply,
    "max": lambda old, new: new if new > old else old,
    "min": lambda old, new: new if new < old else old,
    "mean": lambda old, new: (old + new) / old.dtype.type(2),
}


def _whole_numbers(node: Node, indices: Sequence[Type]) -> None:
    for each in indices:
        if not each.dtype.startswith(("int", "uint")):
            raise refuse(node, f"the dtype of the indices is {each.dtype}, not an integer's")


def _known(node: Node, *names: str) -> str:
    reduction = text(node, "reduction", "update")
    if reduction not in names:
        raise refuse(node, f"reduction is {reduction}")
    return reduction


def _front(index: Any, size: int) -> int:
    if not -size <= index < size:
        raise AssertionError(f"an index is not within {size}")
    return int(index) % size


def _written(
    data: Array, updates: Iterator[tuple[Position, Any]], reduction: str, freedom: Freedom
) -> Array:
    """``data`` after all ``updates``, in a drawn order."""
    result, listed = data.copy(), list(updates)
    meeting = _MEETING[reduction]
    for at in freedom.permutation(len(listed)):
        place, new = listed[at]
        result[place] = meeting(result[place], new)
    return result


def _infer_elements(node: Node, operands: Sequence[Type]) -> Type:
    data, indices, updates = operands
    _whole_numbers(node, [indices])
    axis = axis_of(node, data.rank, default=0)
    _known(node, *_MEETING)
    one_dtype(node, [data, updates])
    if indices.shape != updates.shape or indices.rank != data.rank:
        ranks = f"ranks {data.rank}, {indices.rank}, {updates.rank}"
        raise refuse(node, f"indices of shape {indices.shape} and updates differ: {ranks}")
    for at, (size, most) in enumerate(zip(indices.shape, data.shape, strict=True)):
        if at != axis and size > most:
            raise refuse(node, f"dimension {at} of the indices is {size}, above {most}")
    return data


@operator("scatter_elements", _infer_elements)
def _scatter_elements(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, indices, updates = operands
    axis = axis_of(node, data.ndim, default=0)

    def listed() -> Iterator[tuple[Position, Any]]:
        for place in np.ndindex(indices.shape):
            front = _front(indices[place], data.shape[axis])
            yield (*place[:axis], front, *place[axis + 1 :]), updates[place]

    return _written(data, listed(), text(node, "reduction", "update"), freedom)


def _infer_nd(node: Node, operands: Sequence[Type]) -> Type:
    data, indices, updates = operands
    _whole_numbers(node, [indices])
    _known(node, "update", "add", "mul", "max", "min")
    one_dtype(node, [data, updates])
    wanted = (*indices.shape[:-1], *data.shape[indices.shape[-1] :])
    if updates.shape != wanted:
        raise refuse(node, f"the shape of the updates is {updates.shape}, not {wanted}, or rank")
    return data


@operator("scatter_nd", _infer_nd)
def _scatter_nd(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, indices, updates = operands
    outer = indices.shape[:-1]

    def listed() -> Iterator[tuple[Position, Any]]:
        for place in np.ndindex(updates.shape):
            front = indices[place[: len(outer)]]
            at = (_front(each, size) for each, size in zip(front, data.shape, strict=False))
            yield (*at, *place[len(outer) :]), updates[place]

    return _written(data, listed(), text(node, "reduction", "update"), freedom)


def _infer_read(node: Node, operands: Sequence[Type]) -> Type:
    data, *indices = operands
    _whole_numbers(node, indices)
    if len(indices) > data.rank:
        raise refuse(node, f"{len(indices)} tensors of places for rank {data.rank}")
    outer = broadcast(node, [each.shape for each in indices])
    return Type((*outer, *data.shape[len(indices) :]), data.dtype)


def _together(data: Array, indices: Sequence[Array]) -> Iterator[tuple[Position, Position]]:
    """Each place of the indices broadcast together, and the place that they say."""
    wide = np.broadcast_arrays(*indices)
    for place in np.ndindex(wide[0].shape):
        front = (each[place] for each in wide)
        yield place, tuple(_front(*each) for each in zip(front, data.shape, strict=False))


@operator("index_tensor", _infer_read)
def _index_tensor(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, *indices = operands
    types = [Type(each.shape, each.dtype.name) for each in operands]
    result = np.empty(_infer_read(node, types).shape, data.dtype)
    for place, front in _together(data, indices):
        result[place] = data[front]
    return result


def _infer_put(node: Node, operands: Sequence[Type]) -> Type:
    data, *indices, values = operands
    _whole_numbers(node, indices)
    one_dtype(node, [data, values])
    if len(indices) != data.rank:
        raise refuse(node, f"{len(indices)} tensors of places for rank {data.rank}")
    return data


@operator("index_put", _infer_put)
def _index_put(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    data, *indices, values = operands
    listed = ((front, values[place]) for place, front in _together(data, indices))
    return _written(data, listed, "add" if flag(node, "accumulate", False) else "update", freedom)
