"""The movement of known values: nodes that choose, join and reshape."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.graph.arithmetic import (
    ARITHMETIC,
    Attributes,
    Evaluate,
    Inputs,
)
from relaxcheck.fixes.frontends.onnx.graph.known import Known
from relaxcheck.fixes.frontends.onnx.graph.ranges import length_of

UPSTREAM = NewFile("relax/frontend/onnx/known_places.py")


def _kept(data: Known, values: Any) -> Known:
    """``values`` picked from ``data``; NumPy gives a single one without its array."""
    chosen = values if isinstance(values, np.ndarray) else known.objects(values)
    return Known(chosen, data.dtype)


def _integers(value: Known | None) -> list[int] | None:
    """The numbers of a vector or scalar; None for symbols."""
    if value is None or value.symbolic:
        return None
    return [int(each) for each in value.values.flat]


def _gather(inputs: Inputs, attributes: Attributes) -> Known | None:
    data, indices = inputs[:2]
    if data is None or indices is None or indices.symbolic or data.values.ndim == 0:
        return None
    axis = int(attributes.get("axis", 0))
    extent, chosen = data.values.shape[axis], indices.array
    if chosen.size and not -extent <= chosen.min() <= chosen.max() < extent:
        return None
    return _kept(data, np.take(data.values, chosen, axis))


def _slice(inputs: Inputs, attributes: Attributes) -> Known | None:
    data = inputs[0]
    bounds = [_bounds(inputs, attributes, *each) for each in enumerate(_SLICE_INPUTS, 1)]
    if data is None or any(each is None for each in bounds):
        return None
    starts, ends, axes, steps = (each or [] for each in bounds)
    if len(starts) != len(ends) or not starts:
        return None
    wanted: list[slice] = [slice(None)] * data.values.ndim
    axes, steps = axes or list(range(len(starts))), steps or [1] * len(starts)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        extent = data.values.shape[axis]
        # Before the first place, where Python would count from the end again.
        last = None if step < 0 and end < -extent else end
        # ONNX begins at the first place at least, where Python takes nothing.
        wanted[axis] = slice(max(start, -extent), last, step)
    return _kept(data, data.values[tuple(wanted)])


_SLICE_INPUTS = ("starts", "ends", "axes", "steps")


def _bounds(inputs: Inputs, attributes: Attributes, at: int, name: str) -> list[int] | None:
    if name in attributes:
        return list(attributes[name])
    return _integers(inputs[at]) if at < len(inputs) and inputs[at] is not None else []


def _concat(inputs: Inputs, attributes: Attributes) -> Known | None:
    several = [each for each in inputs if each is not None]
    if not several or any(each.values.ndim == 0 for each in several):
        return None
    if len({each.dtype for each in several}) != 1:
        return None
    axis = int(attributes.get("axis", 1))
    return _kept(several[0], np.concatenate([each.values for each in several], axis))


def _axes(inputs: Inputs, attributes: Attributes) -> list[int] | None:
    """The axes of a node, none if it names none; None if they are not known."""
    if "axes" in attributes:
        return [int(each) for each in attributes["axes"]]
    if len(inputs) < 2 or inputs[1] is None:
        return []
    return _integers(inputs[1])


def _unsqueeze(inputs: Inputs, attributes: Attributes) -> Known | None:
    data, axes = inputs[0], _axes(inputs, attributes)
    if data is None or not axes:
        return None
    rank = data.values.ndim + len(axes)
    return _kept(data, np.expand_dims(data.values, tuple(axis % rank for axis in axes)))


def _squeeze(inputs: Inputs, attributes: Attributes) -> Known | None:
    data, axes = inputs[0], _axes(inputs, attributes)
    if data is None or axes is None:
        return None
    return _kept(data, np.squeeze(data.values, tuple(axes) if axes else None))


def _reshape(inputs: Inputs, attributes: Attributes) -> Known | None:
    data, sizes = inputs[0], _integers(inputs[1]) if len(inputs) > 1 else None
    if data is None or sizes is None:
        return None
    own = data.values.shape
    if not attributes.get("allowzero", 0):
        sizes = [own[at] if size == 0 and at < len(own) else size for at, size in enumerate(sizes)]
    return _kept(data, data.values.reshape(sizes))


def _expand(inputs: Inputs, attributes: Attributes) -> Known | None:
    data, sizes = inputs[0], _integers(inputs[1])
    if data is None or sizes is None:
        return None
    return _limited(
        data, np.broadcast_to(data.values, np.broadcast_shapes(data.values.shape, sizes))
    )


def _tile(inputs: Inputs, attributes: Attributes) -> Known | None:
    data, repeats = inputs[0], _integers(inputs[1])
    if data is None or repeats is None or len(repeats) != data.values.ndim:
        return None
    return _limited(data, np.tile(data.values, repeats))


def _limited(data: Known, values: NDArray[Any]) -> Known | None:
    return _kept(data, values) if values.size <= known.MOST else None


def _reduced(name: str) -> Evaluate:
    """A reduction over all of a vector by the operator ``name``."""
    function = ARITHMETIC[name]

    def evaluate(inputs: Inputs, attributes: Attributes) -> Known | None:
        data, axes = inputs[0], _axes(inputs, attributes)
        if data is None or axes is None or data.values.ndim != 1 or not data.values.size:
            return None
        if not axes and attributes.get("noop_with_empty_axes", 0):
            return data
        result: Known | None = _kept(data, data.values[0])
        for each in data.values[1:]:
            result = None if result is None else function([result, _kept(data, each)], {})
        if result is None:
            return None
        return _kept(
            data, result.values.reshape(1) if attributes.get("keepdims", 1) else result.values
        )

    return evaluate


def _range(inputs: Inputs, attributes: Attributes) -> Known | None:
    bounds = [each for each in inputs if each is not None and each.dtype == "int64"]
    if len(bounds) != 3 or any(each.values.size != 1 for each in bounds):
        return None
    start, limit, step = (each.values.reshape(())[()] for each in bounds)
    length = length_of(start, limit, step)
    if not isinstance(length, int) or length > known.MOST:
        return None
    values = [known.number_of(start + step * at) for at in range(length)]
    return Known(known.objects(values))


def _filled(inputs: Inputs, attributes: Attributes) -> Known | None:
    """ConstantOfShape."""
    sizes = _integers(inputs[0])
    if sizes is None or int(np.prod(sizes)) > known.MOST:
        return None
    from onnx import numpy_helper

    value = attributes.get("value")
    array = np.zeros(1, np.float32) if value is None else numpy_helper.to_array(value)
    return known.of_array(np.full(sizes, array.reshape(-1)[0], array.dtype))


def _identity(inputs: Inputs, attributes: Attributes) -> Known | None:
    return inputs[0]


MOVEMENT: dict[str, Evaluate] = {
    "Gather": _gather,
    "Slice": _slice,
    "Concat": _concat,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Reshape": _reshape,
    "Expand": _expand,
    "Tile": _tile,
    "ReduceProd": _reduced("Mul"),
    "ReduceSum": _reduced("Add"),
    "ReduceMax": _reduced("Max"),
    "ReduceMin": _reduced("Min"),
    "Range": _range,
    "ConstantOfShape": _filled,
    "Identity": _identity,
}
"""By operator, the output of a node with known inputs."""
