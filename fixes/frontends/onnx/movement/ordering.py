"""Elements in another order: blocks of images, reversed sequences, caches that are written to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import converting
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.movement import operands
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/ordering.py")

_IMAGE = 4
"""The rank of a batch of images."""


def _blocks(node: Node) -> tuple[Expr, list[Any], int, bool]:
    """Images, their dimensions, the size of a block, and whether the depth comes first."""
    data = operands.data_of(node)
    dims, size = operands.dims_of(data), int(node.attributes["blocksize"])
    mode = node.attribute("mode", "DCR")
    if len(dims) != _IMAGE or size < 1:
        raise invalid(node.operator, "a batch of images is needed", blocksize=size, input=dims)
    if mode not in ("DCR", "CRD"):
        raise invalid(node.operator, "it is DCR or CRD", mode=mode)
    return data, dims, size, mode == "DCR"


def _divided(node: Node, dim: Any, divisor: int) -> Any:
    if isinstance(dim, int) and dim % divisor:
        why = f"{divisor} does not divide {dim}"
        raise invalid(node.operator, why, blocksize=node.attributes["blocksize"])
    return known.number_of(tvm_api.floordiv(known.dim_of(dim), tvm_api.integer(divisor)))


def depth_to_space(node: Node) -> Expr:
    """Channels moved into blocks of pixels."""
    data, (batch, channels, height, width), size, depth_first = _blocks(node)
    fewer = _divided(node, channels, size * size)

    def compute(images: Tensor, dims: list[Any]) -> Tensor:
        def element(b: PrimExpr, c: PrimExpr, y: PrimExpr, x: PrimExpr) -> PrimExpr:
            row, column = tvm_api.floormod(y, size), tvm_api.floormod(x, size)
            place = row * size + column
            channel = place * dims[1] + c if depth_first else c * (size * size) + place
            return images(b, channel, tvm_api.floordiv(y, size), tvm_api.floordiv(x, size))

        return te.compute(dims, element, name="space")

    return operands.computed(node, compute, [data], [batch, fewer, height * size, width * size])


def space_to_depth(node: Node) -> Expr:
    """Blocks of pixels moved into channels."""
    data, (batch, channels, height, width), size, depth_first = _blocks(node)
    rows, columns = (_divided(node, dim, size) for dim in (height, width))

    def compute(images: Tensor, dims: list[Any]) -> Tensor:
        def element(b: PrimExpr, c: PrimExpr, y: PrimExpr, x: PrimExpr) -> PrimExpr:
            depth = tvm_api.at_least_one(images.shape[1]) if depth_first else size * size
            first, second = tvm_api.floordiv(c, depth), tvm_api.floormod(c, depth)
            place, channel = (first, second) if depth_first else (second, first)
            row, column = tvm_api.floordiv(place, size), tvm_api.floormod(place, size)
            return images(b, channel, y * size + row, x * size + column)

        return te.compute(dims, element, name="depth")

    return operands.computed(
        node, compute, [data], [batch, channels * (size * size), rows, columns]
    )


def reverse_sequence(node: Node) -> Expr:
    """The first elements along the time axis in reverse, as many as the lengths say."""
    data, lengths = operands.data_of(node), operands.data_of(node, 1)
    dims = operands.dims_of(data)
    batch = operands.axis_of(node, int(node.attribute("batch_axis", 1)), len(dims))
    time = operands.axis_of(node, int(node.attribute("time_axis", 0)), len(dims))
    if batch == time:
        raise invalid("ReverseSequence", "two axes are needed", batch_axis=batch, time_axis=time)

    def compute(sequences: Tensor, counts: Tensor, sizes: list[Any]) -> Tensor:
        def element(*index: PrimExpr) -> PrimExpr:
            at, count = index[time], counts(index[batch]).astype("int64")
            place = tirx.Select(at < count, count - 1 - at, at)
            return sequences(*index[:time], place, *index[time + 1 :])

        return te.compute(sizes, element, name="reversed")

    return operands.computed(node, compute, [data, lengths], dims)


def tensor_scatter(node: Node) -> Expr:
    """The cache with the update written from the index of each batch on."""
    past, update = operands.data_of(node), operands.data_of(node, 1)
    dims = operands.dims_of(past)
    axis = operands.axis_of(node, int(node.attribute("axis", -2)), len(dims))
    mode = node.attribute("mode", "linear")
    if mode not in ("linear", "circular"):
        raise invalid("TensorScatter", "it is linear or circular", mode=mode)
    if axis == 0:
        raise invalid("TensorScatter", "the first axis is that of batches", axis=axis)
    tensors = [past, update]
    if node.input(2) is not None:
        tensors.append(operands.as_tensor(node, 2))

    def compute(*arguments: Any) -> Tensor:
        *sources, sizes = arguments
        return _written(sources, sizes, axis, mode == "circular")

    return operands.computed(node, compute, tensors, dims)


def _written(sources: Sequence[Tensor], sizes: list[Any], axis: int, circular: bool) -> Tensor:
    past, update = sources[:2]

    def element(*index: PrimExpr) -> PrimExpr:
        begin = sources[2](index[0]) if len(sources) > 2 else tvm_api.integer(0)
        place = index[axis] - begin
        if circular:
            place = tvm_api.floormod(place, tvm_api.at_least_one(known.dim_of(sizes[axis])))
        inside = tirx.all(place >= 0, place < update.shape[axis])
        new = update(*index[:axis], place, *index[axis + 1 :])
        return te.if_then_else(inside, new, past(*index))

    return te.compute(sizes, element, name="written")


CONVERSIONS: dict[str, Convert] = {
    "DepthToSpace": depth_to_space,
    "SpaceToDepth": space_to_depth,
    "ReverseSequence": reverse_sequence,
    "TensorScatter": tensor_scatter,
}


def _ignores_mode() -> bool:
    data = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    model = node_model("SpaceToDepth", {"x": data}, 28, blocksize=2, mode="CRD")
    return fails(model, [data], [data.reshape(1, 8, 1, 1)])


def _lacks_reversal() -> bool:
    data, lengths = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([3, 1], np.int64)
    expected = np.array([[4, 1], [2, 3], [0, 5]], np.float32)
    model = node_model("ReverseSequence", {"x": data, "lengths": lengths}, 10)
    return fails(model, [data, lengths], [expected])


def _lacks_caches() -> bool:
    past, update = np.zeros((1, 3, 1), np.float32), np.ones((1, 2, 1), np.float32)
    indices = np.array([2], np.int64)
    inputs: dict[str, Array] = {"past": past, "update": update, "indices": indices}
    model = node_model("TensorScatter", inputs, 24, mode="circular")
    return fails(model, [past, update, indices], [np.array([[[1], [0], [1]]], np.float32)])


FIX = Fix(
    name="onnx_ordering",
    operators=tuple(CONVERSIONS),
    fault="ONNX's ReverseSequence and TensorScatter are not imported, SpaceToDepth has no mode",
    issue=None,
    parts=(
        FaultPart("mode of SpaceToDepth", _ignores_mode),
        FaultPart("ReverseSequence", _lacks_reversal),
        FaultPart("TensorScatter", _lacks_caches),
    ),
    rebindings=converting.rebindings(CONVERSIONS),
    after="onnx_gather",
    patch=converting.patch(CONVERSIONS),
)
