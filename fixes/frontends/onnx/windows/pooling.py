"""ONNX's pools.

TVM gives no indices, counts windows of SAME_LOWER rounded down, ignores dilations where it pads,
keeps windows that begin in the padding, takes norms of means that miss elements, adds float16 up in
float16, and knows static sizes, one to three spatial axes and floats alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import (
    computed,
    computed_all,
    filled,
    largest,
    lowest,
    within,
)
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.frontends.onnx.windows.geometry import Window, read_window
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/pooling.py")

Indices = Sequence[PrimExpr]
Element = Callable[[Window, Tensor, Indices], PrimExpr]


def _image(node: Node) -> Expr:
    """The data, with a batch, channels and spatial axes.

    Raises:
        ValueError: they have no spatial axes.
    """
    data = operands.required(node, 0, "X")
    if operands.rank_of(data) < 3:
        shape = tvm_api.show(tvm_api.shape_of(data))
        raise invalid(node.operator, "it must have 3 dimensions or more", **{"shape of X": shape})
    return data


def _shape(window: Window, source: Tensor) -> list[PrimExpr]:
    sizes = source.shape[2:]
    places = [window.places(axis, size) for axis, size in enumerate(sizes)]
    return [source.shape[0], source.shape[1], *places]


def _plain(window: Window, data: Expr, operator: str) -> Any:
    """TVM's own pool if it computes ``window`` of ``data`` as ONNX does, else None."""
    dims = [tvm_api.as_int(dim) for dim in tvm_api.shape_of(data)[2:]]
    pads, known = window.pads, None not in dims and 0 not in dims
    if pads is None or window.ceil or not known or window.rank > 3:
        return None
    if tvm_api.dtype_of(data) != "float32" or set(window.dilations) != {1}:
        return None
    before, after = pads[: window.rank], pads[window.rank :]
    if any(max(pair) >= tap for *pair, tap in zip(before, after, window.taps, strict=True)):
        return None
    return getattr(relax.op.nn, f"{operator}{window.rank}d")


def max_pool(node: Node) -> Expr:
    """The largest element of each window, and its index if that is used.

    Raises:
        ValueError: an attribute or a shape is invalid.
    """
    data = _image(node)
    window = read_window(node, None, tvm_api.shape_of(data)[2:])
    by_column = operands.flag(node, "storage_order")
    dtype = tvm_api.dtype_of(data)
    wide = operands.widened(node, data, operands.inner_dtype(dtype))
    if node.outputs == 1:
        result = computed(node, lambda source: _largest(window, source), wide)
        return operands.widened(node, result, dtype)

    def compute(source: Tensor) -> list[Tensor]:
        return _places_of_largest(window, source, by_column)

    places, result = computed_all(node, 2, compute, wide)
    return relax.Tuple([operands.widened(node, result, dtype), places])


def _largest(window: Window, source: Tensor) -> Tensor:
    def element(indices: Indices) -> PrimExpr:
        taps = window.reduce_axes()
        fill = lowest(tvm_api.dtype_of(source))
        places = [tap.var for tap in taps]
        return largest(window.read(source, indices[:2], indices[2:], places, fill), axis=taps)

    return filled(_shape(window, source), element, "largest")


def _places_of_largest(window: Window, source: Tensor, by_column: bool) -> list[Tensor]:
    """The index of the largest element of each window, the first of equal ones; and the element."""
    sizes, dtype = source.shape[2:], tvm_api.dtype_of(source)

    def both(*indices: PrimExpr) -> Any:
        taps = window.reduce_axes()
        places = [tap.var for tap in taps]
        value = window.read(source, indices[:2], indices[2:], places, lowest(dtype))
        at = [
            window.position(axis, size, indices[2 + axis], places[axis])
            for axis, size in enumerate(sizes)
        ]
        inside = tirx.all(*(within(index, size) for index, size in zip(at, sizes, strict=True)))
        number = _number(source, indices[:2], at, by_column)
        nowhere = tvm_api.integer(_NOWHERE)
        return _FIRST_LARGEST((tirx.if_then_else(inside, number, nowhere), value), axis=taps)

    return list(te.compute(tuple(_shape(window, source)), both, name="largest"))


_NOWHERE = 2**63 - 1


def _number(source: Tensor, plane: Indices, at: Indices, by_column: bool) -> PrimExpr:
    """The number of an element in the whole of ``source``; ``by_column`` within its plane."""
    count = tvm_api.integer(0)
    sizes = source.shape[2:]
    pairs = list(zip(at, sizes, strict=True))
    for index, size in reversed(pairs) if by_column else pairs:
        count = count * size + index
    whole = tvm_api.integer(1)
    for size in sizes:
        whole = whole * size
    return (plane[0] * source.shape[1] + plane[1]) * whole + count


def _first(left: Any, right: Any) -> Any:
    greater = left[1] > right[1]
    earlier = tirx.all(left[1] == right[1], left[0] < right[0])
    chosen = tirx.any(greater, earlier)
    return tuple(tirx.Select(chosen, mine, other) for mine, other in zip(left, right, strict=True))


def _nothing(place: str, dtype: str) -> Any:
    return tirx.const(_NOWHERE, place), lowest(dtype)


_FIRST_LARGEST = te.comm_reducer(_first, _nothing, name="first_largest")


def average_pool(node: Node) -> Expr:
    """The mean of each window.

    Raises:
        ValueError: an attribute or a shape is invalid.
    """
    data = _image(node)
    dtype = tvm_api.dtype_of(data)
    window = read_window(node, None, tvm_api.shape_of(data)[2:])
    padded = operands.flag(node, "count_include_pad")
    plain = _plain(window, data, "avg_pool")
    if plain is not None:
        pool = plain(
            data,
            window.taps,
            window.strides,
            window.static_pads,
            count_include_pad=padded,
        )
        return node.emit(pool)

    def compute(source: Tensor) -> Tensor:
        sums = _summed(window, source, lambda value: value)

        def element(indices: Indices) -> PrimExpr:
            count = tvm_api.at_least_one(_count(window, source, indices[2:], padded))
            return sums[tuple(indices)] / count.astype(tvm_api.dtype_of(source))

        return filled(sums.shape, element, "mean")

    wide = operands.widened(node, data, operands.inner_dtype(dtype))
    return operands.widened(node, computed(node, compute, wide), dtype)


def _summed(window: Window, source: Tensor, function: Callable[[PrimExpr], PrimExpr]) -> Tensor:
    """The sum over each window of a ``function`` of elements, which is 0 for 0."""
    zero = tirx.const(0, tvm_api.dtype_of(source))

    def element(indices: Indices) -> PrimExpr:
        taps = window.reduce_axes()
        places = [tap.var for tap in taps]
        value = window.read(source, indices[:2], indices[2:], places, zero)
        return te.sum(function(value), axis=taps)

    return filled(_shape(window, source), element, "sums")


def _count(window: Window, source: Tensor, places: Indices, padded: bool) -> PrimExpr:
    """The number of elements of the window at ``places``, those of the padding if ``padded``."""
    result = tvm_api.integer(1)
    for axis, size in enumerate(source.shape[2:]):
        before, after = window.padding(axis, size)
        first = window.position(axis, size, places[axis], tvm_api.integer(0))
        low = tvm_api.integer(0) - before if padded else tvm_api.integer(0)
        high = size + after if padded else size
        dilation, taps = window.dilations[axis], window.taps[axis]
        step = tvm_api.integer(dilation - 1)
        # Taps before ``low``, and those before ``high``.
        skipped = tirx.max(tvm_api.floordiv(low - first + step, dilation), tvm_api.integer(0))
        reached = tvm_api.floordiv(high - first + step, dilation)
        kept = tirx.min(reached, tvm_api.integer(taps)) - skipped
        result = result * tirx.max(kept, tvm_api.integer(0))
    return result


def lp_pool(node: Node) -> Expr:
    """The norm of each window.

    Raises:
        ValueError: an attribute or a shape is invalid.
    """
    data = _image(node)
    window = read_window(node, None, tvm_api.shape_of(data)[2:])
    return _norms(node, data, lambda source, power: _summed(window, source, power))


def global_lp_pool(node: Node) -> Expr:
    """The norm of each channel.

    Raises:
        ValueError: an attribute or a shape is invalid.
    """

    def sums(source: Tensor, power: Callable[[PrimExpr], PrimExpr]) -> Tensor:
        return _of_channels(source, "sums", lambda element, axes: te.sum(power(element), axis=axes))

    return _norms(node, _image(node), sums)


def _of_channels(
    source: Tensor, name: str, reduce: Callable[[PrimExpr, Sequence[PrimExpr]], PrimExpr]
) -> Tensor:
    """``reduce(element, axes)`` over the spatial axes, which stay with the size 1."""

    def element(indices: Indices) -> PrimExpr:
        inner = [te.reduce_axis((0, size), f"k{at}") for at, size in enumerate(source.shape[2:])]
        place = (*indices[:2], *(axis.var for axis in inner))
        return reduce(source[place], inner)

    shape = [*source.shape[:2], *[tvm_api.integer(1)] * (len(source.shape) - 2)]
    return filled(shape, element, name)


def global_average_pool(node: Node) -> Expr:
    """The mean of each channel: of 16 bits in float32, in which a sum does not stop growing."""
    data = operands.required(node, 0, "X")
    dtype = tvm_api.dtype_of(data)
    wide = operands.widened(node, data, operands.inner_dtype(dtype))
    return operands.widened(node, node.emit(node.with_inputs(wide).converted()), dtype)


def global_max_pool(node: Node) -> Expr:
    """The largest element of each channel: NaN if there is one, -infinity if there is no other."""
    data = operands.required(node, 0, "X")
    if operands.rank_of(data) < 3:
        return data
    dtype = tvm_api.dtype_of(data)

    def compute(source: Tensor) -> Tensor:
        return _of_channels(source, "largest", lambda element, axes: largest(element, axis=axes))

    wide = operands.widened(node, data, operands.inner_dtype(dtype))
    return operands.widened(node, computed(node, compute, wide), dtype)


def _norms(
    node: Node,
    data: Expr,
    sums: Callable[[Tensor, Callable[[PrimExpr], PrimExpr]], Tensor],
) -> Expr:
    power = node.attribute("p", 2)
    if not power > 0:
        raise invalid(node.operator, "it must be greater than 0", p=power)
    dtype = tvm_api.dtype_of(data)
    inner = operands.inner_dtype(dtype)

    def raised(value: PrimExpr) -> PrimExpr:
        if power == 2:
            return value * value
        absolute = tirx.abs(value)
        return absolute if power == 1 else tirx.power(absolute, tirx.const(float(power), inner))

    def root(value: PrimExpr) -> PrimExpr:
        if power == 2:
            return tirx.sqrt(value)
        if power == 1:
            return value
        return tirx.power(value, tirx.const(1.0, inner) / tirx.const(float(power), inner))

    def compute(source: Tensor) -> Tensor:
        total = sums(source, raised)
        return filled(total.shape, lambda indices: root(total[tuple(indices)]), "norm")

    wide = operands.widened(node, data, inner)
    return operands.widened(node, computed(node, compute, wide), dtype)


CONVERSIONS: dict[str, Convert] = {
    "MaxPool": max_pool,
    "AveragePool": average_pool,
    "LpPool": lp_pool,
    "GlobalLpPool": global_lp_pool,
    "GlobalAveragePool": global_average_pool,
    "GlobalMaxPool": global_max_pool,
}

_ROW = np.array([[[1, 4, 2]]], np.float32)


def _lacks_indices() -> bool:
    """True if the indices of the largest elements are not computed."""
    model = node_model("MaxPool", {"X": _ROW}, 12, outputs=2, kernel_shape=[2])
    indices = np.array([[[1, 1]]], np.int64)
    return fails(model, [_ROW], [np.array([[[4, 4]]], np.float32), indices])


def _mistakes_lower() -> bool:
    """True if a window is missing where the padding is as large before as after, or larger."""
    settings: Any = {"auto_pad": "SAME_LOWER", "kernel_shape": [2], "strides": [2]}
    model = node_model("MaxPool", {"X": _ROW}, 12, **settings)
    return fails(model, [_ROW], [np.array([[[1, 4]]], np.float32)])


def _mistakes_dilations() -> bool:
    """True if the padding of a mean does not grow with the distance of its elements."""
    settings: Any = {"auto_pad": "SAME_UPPER", "kernel_shape": [2], "dilations": [2]}
    model = node_model("AveragePool", {"X": _ROW}, 19, **settings)
    return fails(model, [_ROW], [np.array([[[4, 1.5, 4]]], np.float32)])


def _stops_adding() -> bool:
    """True if the mean of a channel of float16 is less than each of its elements.

    The sum of 4096 stays as it is when 1 is added to it.
    """
    data = np.ones((1, 1, 4, 2048), np.float16)
    return fails(node_model("GlobalAveragePool", {"X": data}, 1), [data], [data[..., :1, :1]])


def _has_a_lowest() -> bool:
    """True if the largest of -infinity alone is a finite number."""
    data = np.full((1, 1, 2), -np.inf, np.float32)
    return fails(node_model("GlobalMaxPool", {"X": data}, 1), [data], [data[..., :1]])


FIX = Fix(
    name="onnx_pooling",
    operators=tuple(CONVERSIONS),
    fault=(
        "ONNX's MaxPool has no indices, and a window too few with SAME_LOWER; the padding of"
        " AveragePool ignores dilations; GlobalAveragePool of float16 adds up in float16, and"
        " GlobalMaxPool of -infinity is a finite number"
    ),
    issue=None,
    parts=(
        FaultPart("indices", _lacks_indices),
        FaultPart("SAME_LOWER", _mistakes_lower),
        FaultPart("dilations", _mistakes_dilations),
        FaultPart("means of float16", _stops_adding),
        FaultPart("-infinity", _has_a_lowest),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_resizing",
    patch=patch(CONVERSIONS),
)
