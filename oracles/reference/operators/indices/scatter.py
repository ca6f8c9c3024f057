"""The reference's scatters: at each place the element and all of its updates, in any order."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.attribute_values import axis_of, flag, text
from relaxcheck.oracles.reference.averages import shared, total
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluation import operator, same_dtype
from relaxcheck.oracles.reference.operators.movement import moved, places_of
from relaxcheck.oracles.reference.operators.reductions import extreme, product


@operator("scatter_elements")
def _scatter_elements(node: Node, operands: list[Estimate]) -> Estimate:
    data, indices, updates = operands
    axis = axis_of(node, "axis", data.value.ndim, 0)
    shape = indices.value.shape
    if len(shape) != data.value.ndim or shape != updates.value.shape:
        raise ValueError(f"indices of shape {shape} for updates of shape {updates.value.shape}")
    at = [np.broadcast_to(each, shape) for each in np.ogrid[tuple(map(slice, shape))]]
    at[axis] = _from_front(places_of(indices), data.value.shape[axis])
    return _scattered(node, data, updates, at, text(node, "reduction", "update"))


@operator("scatter_nd")
def _scatter_nd(node: Node, operands: list[Estimate]) -> Estimate:
    data, indices, updates = operands
    depth, outer = indices.value.shape[-1], indices.value.shape[:-1]
    rest = data.value.shape[depth:]
    if updates.value.shape != (*outer, *rest):
        raise ValueError(f"updates of shape {updates.value.shape} are not {(*outer, *rest)}")
    at = []
    for axis in range(depth):
        places = places_of(indices)[..., axis]
        if (places < 0).any():
            raise ValueError("an index is negative")
        front = _from_front(places, data.value.shape[axis])
        at.append(np.broadcast_to(front.reshape(*outer, *(1,) * len(rest)), (*outer, *rest)))
    at += [np.broadcast_to(each, (*outer, *rest)) for each in np.ogrid[tuple(map(slice, rest))]]
    return _scattered(node, data, updates, at, text(node, "reduction", "update"))


@operator("index_put")
def _index_put(node: Node, operands: list[Estimate]) -> Estimate:
    data, *indices, values = operands
    if len(indices) != data.value.ndim:
        raise ValueError(f"{len(indices)} tensors of places for rank {data.value.ndim}")
    at = _together(data, indices)
    # TVM speaks of corresponding values, and broadcasts none.
    if values.value.shape != at[0].shape:
        raise ValueError(f"values of shape {values.value.shape} for places of {at[0].shape}")
    accumulate = flag(node, "accumulate", False)
    return _scattered(node, data, values, at, "add" if accumulate else "update")


@operator("index_tensor")
def _index_tensor(node: Node, operands: list[Estimate]) -> Estimate:
    data, *indices = operands
    if len(indices) > data.value.ndim:
        raise ValueError(f"{len(indices)} tensors of places for rank {data.value.ndim}")
    at = tuple(_together(data, indices))
    return moved(data, lambda each: each[at])


def _together(data: Estimate, indices: Sequence[Estimate]) -> list[Array]:
    """Places on the first axes of ``data``, broadcast together."""
    sizes = data.value.shape
    fronts = [
        _from_front(places_of(each), size) for each, size in zip(indices, sizes, strict=False)
    ]
    return list(np.broadcast_arrays(*fronts))


def _from_front(places: Array, size: int) -> Array:
    if ((places < -size) | (places >= size)).any():
        raise ValueError(f"an index is not within {size}")
    return np.where(places < 0, places + size, places)


def _scattered(
    node: Node, data: Estimate, updates: Estimate, at: Sequence[Array], reduction: str
) -> Estimate:
    """``data`` where the elements of ``updates`` meet those ``at`` their places, a list an axis."""
    same_dtype(node, [data, updates])
    if reduction not in ("update", "add", "mul", "max", "min", "mean"):
        raise ValueError(f"the reduction {reduction} is unknown")
    shape = data.value.shape
    places = np.ravel_multi_index([each.ravel() for each in at], shape)
    counts = np.bincount(places, minlength=data.value.size).reshape(shape)
    if not places.size:
        return data
    combined = _combined(data, updates, places, reduction)
    chosen = np.where(counts > 0, combined.value, data.value)
    result = replace(combined, value=chosen, error=np.where(counts > 0, combined.error, data.error))
    several = counts > 1 if reduction in ("update", "mean") else np.zeros(shape, np.bool_)
    return unconstrain(result, several)


def _combined(data: Estimate, updates: Estimate, places: Array, reduction: str) -> Estimate:
    """Every element reduced with its updates: on a first axis, filled up by what changes nothing.

    Elements without updates are reduced with the filling alone.
    """
    order = np.argsort(places, kind="stable")
    line = places[order]
    rank = np.arange(line.size) - np.searchsorted(line, line)
    depth = int(rank.max()) + 1
    fillings = {"add": 0, "mean": 0, "mul": 1}

    def stacked(own: Array, other: Array, filling: Array) -> Array:
        stack = np.broadcast_to(filling, (depth, own.size)).copy()
        stack[rank, line] = other.ravel()[order]
        return np.concatenate([own.reshape(1, -1), stack])

    value, error = data.value, data.error
    filling = value.ravel() if reduction in ("max", "min", "update") else fillings[reduction]
    same = reduction in ("max", "min", "update")
    stack = replace(
        data,
        value=stacked(value, updates.value, np.asarray(filling, value.dtype)),
        error=stacked(error, updates.error, error.ravel() if same else np.zeros(())),
        signed=data.signed and updates.signed,
    )
    match reduction:
        case "update":
            result = moved(stack, lambda each: each[1])
        case "add":
            result = total(stack, (0,), False)
        case "mean":
            result = shared(total(stack, (0,), False), np.array(2))
        case "mul":
            result = product(stack, (0,), False)
        case _:
            result = extreme(stack, (0,), False, 1 if reduction == "max" else -1)
    return moved(result, lambda each: each.reshape(value.shape))
