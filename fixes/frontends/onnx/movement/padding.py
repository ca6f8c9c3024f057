"""Pad in every mode and version: amounts of either sign, for some axes, known only at run time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import converting
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.graph.ranges import at_least, at_most
from relaxcheck.fixes.frontends.onnx.movement import operands
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor, shapes

UPSTREAM = NewFile("relax/frontend/onnx/padding.py")

_MODES = ("constant", "reflect", "edge", "wrap")


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis to pad: ``size`` places, ``before`` in front of them; of either sign.

    ``kept`` and ``width`` are the first place that is left of it, and the number of those.
    """

    before: Any
    kept: Any
    width: Any


def pad(node: Node) -> Expr:
    """The data with elements around them, or without some at the ends."""
    mode = node.attribute("mode", "constant")
    if mode not in _MODES:
        raise refuse("Pad", mode=mode)
    data = operands.data_of(node)
    own = operands.dims_of(data)
    if node.input(3) is not None and operands.integers(node, 3) is None:
        return pad(node.with_inputs(node.inputs[0], _of_all_axes(node, len(own)), node.input(2)))
    axes = operands.numbers(node, 3, "axes")
    axes = operands.axes_of(node, range(len(own)) if axes is None else axes, len(own))
    amounts = operands.integers(node, 1, "pads")
    count = operands.length_of(node, 1, "pads") if amounts is None else len(amounts)
    if count != 2 * len(axes):
        raise invalid("Pad", f"twice as many are needed as axes, {len(axes)}", pads=amounts)
    fill = _fill(node, tvm_api.dtype_of(data))
    tensors = [data] if mode != "constant" else [data, fill]
    if amounts is None:
        tensors.append(operands.as_tensor(node, 1))
        dims = _sizes_at_run_time(node, own, axes)
        return operands.computed(node, _reading(mode, axes), tensors, dims)
    both = dict(
        zip(axes, zip(amounts[: len(axes)], amounts[len(axes) :], strict=True), strict=True)
    )
    ends = [both.get(axis, (0, 0)) for axis in range(len(own))]
    dims = [before + size + after for (before, after), size in zip(ends, own, strict=True)]
    dims = [at_least(dim, 0) for dim in dims]
    numbers = [amount for pair in ends for amount in pair]
    return operands.computed(node, _writing(mode, len(own)), tensors, [*dims, *numbers])


def _of_all_axes(node: Node, rank: int) -> Expr:
    """The amounts for all axes, of which the node names some only at run time."""
    builder, named = node.builder, operands.named_axes(node, 3, rank)
    count = operands.length_of(node, 3, "axes")
    zeros = operands.vector_of(node, [0] * rank)
    halves = builder.emit(relax.op.split(operands.as_tensor(node, 1), 2, axis=0))
    both = [builder.emit(relax.TupleGetItem(halves, at)) for at in range(2)] if count else []
    spread = [operands.spread(node, named, each, zeros) for each in both] or [zeros, zeros]
    return builder.normalize(relax.op.concat(spread, axis=0))


def _fill(node: Node, dtype: str) -> Expr:
    """The value around the data, as a tensor of a single element."""
    value = node.input(2)
    if value is None:
        number = node.attribute("value", 0)
        return relax.const(bool(number) if dtype == "bool" else number, dtype)
    return known.tensor(node.builder, value) if known.is_shape(value) else value


def _sizes_at_run_time(node: Node, own: Sequence[Any], axes: Sequence[int]) -> list[Any]:
    builder, count = node.builder, len(axes)
    halves = relax.op.split(operands.as_tensor(node, 1), 2, axis=0)
    halves = builder.emit(halves)
    before, after = (builder.emit(relax.TupleGetItem(halves, at)) for at in range(2))
    sizes = operands.vector_of(node, [own[axis] for axis in axes])
    total = relax.op.add(relax.op.add(before, sizes), after)
    total = builder.normalize(relax.op.maximum(total, relax.const(0, "int64")))
    padded = operands.symbols_of(builder, total, count, "padded")
    dims = list(own)
    for axis, dim in zip(axes, padded, strict=True):
        dims[axis] = dim
    return dims


def _writing(mode: str, rank: int) -> operands.Compute:
    """Computes a padded tensor from data, fill and numbers: its dimensions, then amounts."""

    def compute(*arguments: Any) -> Tensor:
        *tensors, numbers = arguments
        dims, amounts = numbers[:rank], numbers[rank:]
        return _padded(mode, tensors, dims, lambda axis: tuple(amounts[2 * axis : 2 * axis + 2]))

    return compute


def _reading(mode: str, axes: Sequence[int]) -> operands.Compute:
    """Computes a padded tensor from data, fill, amounts in a tensor, and its dimensions."""
    places = {axis: at for at, axis in enumerate(axes)}

    def compute(*arguments: Any) -> Tensor:
        *tensors, amounts, dims = arguments

        def ends(axis: int) -> tuple[Any, Any]:
            if axis not in places:
                return 0, 0
            at = places[axis]
            return amounts(at), amounts(at + len(places))

        return _padded(mode, tensors, dims, ends)

    return compute


def _padded(
    mode: str,
    tensors: Sequence[Tensor],
    dims: Sequence[Any],
    ends: Callable[[int], tuple[Any, Any]],
) -> Tensor:
    data = tensors[0]
    axes = [_axis(size, *ends(axis)) for axis, size in enumerate(data.shape)]

    def element(*index: PrimExpr) -> PrimExpr:
        inner = [at - axis.before for at, axis in zip(index, axes, strict=True)]
        places = [
            axis.kept + _PLACES[mode](at, axis.width) for at, axis in zip(inner, axes, strict=True)
        ]
        if mode != "constant":
            return data(*places)
        inside = [
            condition
            for at, axis in zip(inner, axes, strict=True)
            for condition in (at >= 0, at < axis.width)
        ]
        filled = tensors[1](*[0] * len(tensors[1].shape))
        if not inside:
            return data()
        return te.if_then_else(shapes.all_of(inside), data(*places), filled)

    return te.compute(list(dims), element, name="padded")


def _axis(size: Any, before: Any, after: Any) -> Axis:
    """Amounts below 0 take places away, before others are added."""
    gone, cut = (at_most(_plain(amount), 0) for amount in (before, after))
    return Axis(_index(at_least(_plain(before), 0)), _index(-gone), _index(size + gone + cut))


def _plain(amount: Any) -> Any:
    return known.number_of(amount) if _is_known(amount) else amount


def _is_known(amount: Any) -> bool:
    return isinstance(amount, int) or tvm_api.as_int(amount) is not None


def _index(value: Any) -> PrimExpr:
    return known.dim_of(value)


def _inside(at: PrimExpr, width: PrimExpr) -> PrimExpr:
    return at


def _nearest(at: PrimExpr, width: PrimExpr) -> PrimExpr:
    return tvm_api.larger(tvm_api.smaller(at, width - 1), tvm_api.integer(0))


def _mirrored(at: PrimExpr, width: PrimExpr) -> PrimExpr:
    """Back and forth between the ends, which are not repeated."""
    period = tvm_api.larger(2 * (width - 1), tvm_api.integer(1))
    forth = tvm_api.floormod(at, period)
    return tvm_api.smaller(forth, period - forth)


def _around(at: PrimExpr, width: PrimExpr) -> PrimExpr:
    return tvm_api.floormod(at, tvm_api.larger(width, tvm_api.integer(1)))


_PLACES = {"constant": _inside, "edge": _nearest, "reflect": _mirrored, "wrap": _around}
"""The place to read, by mode, for a place that may lie outside of ``width`` places."""


def center_crop_pad(node: Node) -> Expr:
    """The middle of the data, or the data in the middle of zeros, for each axis."""
    data = operands.data_of(node)
    own, dtype = operands.dims_of(data), tvm_api.dtype_of(data)
    axes = list(node.attributes.get("axes") or range(len(own)))
    axes = operands.axes_of(node, axes, len(own))
    wanted = operands.integers(node, 1)
    if wanted is None:
        count = operands.length_of(node, 1, "shape")
        wanted = operands.symbols_of(node.builder, operands.as_tensor(node, 1), count, "size")
    if len(wanted) != len(axes):
        raise invalid("CenterCropPad", f"a size for each of {len(axes)} axes", shape=wanted)
    dims = list(own)
    for axis, size in zip(axes, wanted, strict=True):
        dims[axis] = size

    def compute(tensor: Tensor, sizes: list[Any]) -> Tensor:
        ahead = [_half(size - have) for size, have in zip(sizes, tensor.shape, strict=True)]

        def element(*index: PrimExpr) -> PrimExpr:
            places = [at - before for at, before in zip(index, ahead, strict=True)]
            inside = [
                condition
                for at, have in zip(places, tensor.shape, strict=True)
                for condition in (at >= 0, at < have)
            ]
            zero = tirx.const(0, dtype)
            return te.if_then_else(shapes.all_of(inside), tensor(*places), zero)

        return te.compute(sizes, element, name="centered")

    return operands.computed(node, compute, [data], dims) if own else data


def _half(difference: PrimExpr) -> PrimExpr:
    """Half of ``difference``, rounded towards 0: the odd element is at the end."""
    grown = tvm_api.floordiv(at_least(known.number_of(difference), 0), 2)
    cut = tvm_api.floordiv(at_least(known.number_of(-difference), 0), 2)
    return _index(grown) - _index(cut)


CONVERSIONS: dict[str, Convert] = {"Pad": pad, "CenterCropPad": center_crop_pad}


def _lacks_amounts_at_run_time() -> bool:
    data, pads = np.arange(3, dtype=np.float32), np.array([1, 2], np.int64)
    model = node_model("Pad", {"x": data, "pads": pads}, 13)
    return fails(model, [data, pads], [np.pad(data, (1, 2))])


def _lacks_axes_at_run_time() -> bool:
    data, pads = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2], np.int64)
    axes = np.array([-1], np.int64)
    inputs: dict[str, Array | None] = {"x": data, "pads": pads, "value": None, "axes": axes}
    model = node_model("Pad", inputs, 18, held=["pads"], mode="reflect")
    return fails(model, [data, axes], [np.pad(data, [(0, 0), (1, 2)], mode="reflect")])


def _lacks_centers() -> bool:
    data, shape = np.ones((1, 4), np.float32), np.array([3, 1], np.int64)
    model = node_model("CenterCropPad", {"x": data, "shape": shape}, 18)
    return fails(model, [data, shape], [np.array([[0], [1], [0]], np.float32)])


FIX = Fix(
    name="onnx_pad",
    operators=tuple(CONVERSIONS),
    fault="ONNX's Pad by amounts or along axes given at run time, and CenterCropPad, are refused",
    issue=None,
    parts=(
        FaultPart("amounts at run time", _lacks_amounts_at_run_time),
        FaultPart("axes at run time", _lacks_axes_at_run_time),
        FaultPart("CenterCropPad", _lacks_centers),
    ),
    rebindings=converting.rebindings(CONVERSIONS),
    after="onnx_slice",
    patch=converting.patch(CONVERSIONS),
)
