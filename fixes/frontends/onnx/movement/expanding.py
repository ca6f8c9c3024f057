"""Expand, Tile, ConstantOfShape, EyeLike and Range: elements repeated or made."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import converting
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.graph.attributes import PACKED
from relaxcheck.fixes.frontends.onnx.graph.ranges import length_of
from relaxcheck.fixes.frontends.onnx.movement import operands
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, Tensor, shapes

UPSTREAM = NewFile("relax/frontend/onnx/expanding.py")


def expand(node: Node) -> Expr:
    """The data broadcast together with the shape that is the second input."""
    data = operands.data_of(node)
    own, wanted = operands.dims_of(data), operands.integers(node, 1)
    if wanted is None:
        dims = _broadcast_at_run_time(node, own)
    else:
        rank = max(len(own), len(wanted))
        pairs = zip(_padded(own, rank), _padded(wanted, rank), strict=True)
        dims = [_broadcast(*pair) for pair in pairs]
    if len(dims) == len(own) and all(map(_same, own, dims)):
        return data
    return _repeated(node, data, dims)


def _padded(dims: Sequence[Any], rank: int) -> list[Any]:
    return [*[1] * (rank - len(dims)), *dims]


def _same(left: Any, right: Any) -> bool:
    return shapes.alike(known.dim_of(left), known.dim_of(right))


def _broadcast(own: Any, wanted: Any) -> Any:
    """The size that ``own`` and ``wanted`` broadcast to.

    Raises:
        ValueError: they are different numbers, neither of them 1.
    """
    if isinstance(wanted, int):
        if wanted == 1:
            return own
        if isinstance(own, int) and own not in (1, wanted):
            raise invalid("Expand", f"{own} and {wanted} do not broadcast", shape=wanted)
        return wanted
    if isinstance(own, int):
        return wanted if own == 1 else own
    if _same(own, wanted):
        return own
    return shapes.select(tvm_api.equal(own, tvm_api.integer(1)), wanted, own)


def _broadcast_at_run_time(node: Node, own: Sequence[Any]) -> list[Any]:
    length = operands.length_of(node, 1, "shape")
    rank = max(length, len(own))
    wanted = operands.as_tensor(node, 1)
    builder = node.builder
    if rank > length:
        ones = operands.vector_of(node, [1] * (rank - length))
        wanted = builder.normalize(relax.op.concat([ones, wanted], axis=0))
    mine = operands.vector_of(node, _padded(own, rank))
    is_one = relax.op.equal(wanted, relax.const(1, "int64"))
    sizes = builder.normalize(relax.op.where(is_one, mine, wanted))
    return operands.symbols_of(builder, sizes, rank, "expand_dim")


def _repeated(node: Node, data: Expr, dims: Sequence[Any]) -> Expr:
    """``data`` in the shape ``dims``, its axes of size 1 repeated."""

    def compute(tensor: Tensor, sizes: list[Any]) -> Tensor:
        ahead = len(sizes) - len(tensor.shape)

        def element(*index: Any) -> Any:
            places = [
                _place(at, size) for at, size in zip(index[ahead:], tensor.shape, strict=True)
            ]
            return tensor(*places)

        return te.compute(sizes, element, name="expanded")

    return operands.computed(node, compute, [data], dims)


def _place(at: Any, size: Any) -> Any:
    """The place to read for place ``at`` of an axis that is repeated if its ``size`` is 1."""
    number = tvm_api.as_int(size)
    if number is not None:
        return tvm_api.integer(0) if number == 1 else at
    return shapes.select(tvm_api.equal(size, tvm_api.integer(1)), tvm_api.integer(0), at)


def tile(node: Node) -> Expr:
    """The data repeated along each axis."""
    data = operands.data_of(node)
    own, repeats = operands.dims_of(data), operands.integers(node, 1)
    if repeats is None:
        length = operands.length_of(node, 1, "repeats")
        if length == len(own):
            tensor = operands.as_tensor(node, 1)
            repeats = operands.symbols_of(node.builder, tensor, length, "repeat")
    if repeats is None or len(repeats) != len(own):
        raise invalid("Tile", f"the data have {len(own)} axes", repeats=repeats)

    def compute(tensor: Tensor, counts: list[Any]) -> Tensor:
        sizes = [size * count for size, count in zip(tensor.shape, counts, strict=True)]

        def element(*index: Any) -> Any:
            extents = [tvm_api.at_least_one(size) for size in tensor.shape]
            pairs = zip(index, extents, strict=True)
            return tensor(*(tvm_api.floormod(at, size) for at, size in pairs))

        return te.compute(sizes, element, name="tiled")

    return operands.computed(node, compute, [data], repeats)


def constant_of_shape(node: Node) -> Expr:
    """A tensor of the shape that is the input, filled with a value: by default the float 0."""
    from onnx import numpy_helper

    held = node.attribute("value")
    value = np.zeros(1, np.float32) if held is None else np.asarray(numpy_helper.to_array(held))
    if value.dtype.name in PACKED:
        raise refuse("ConstantOfShape", value=value.dtype.name)
    fill = tvm_api.const(value.reshape(-1)[:1].reshape(()))
    dims = operands.integers(node, 0)
    if dims is None:
        length = operands.length_of(node, 0, "input")
        tensor = operands.as_tensor(node, 0)
        dims = operands.symbols_of(node.builder, tensor, length, "size") if length else []

    def compute(tensor: Tensor, sizes: list[Any]) -> Tensor:
        return te.compute(sizes, lambda *index: tensor(), name="filled")

    return operands.computed(node, compute, [fill], dims)


def eye_like(node: Node) -> Expr:
    """A matrix of the size of the data, with ones on diagonal ``k``."""
    from onnx import helper

    data = operands.data_of(node)
    k, dims = int(node.attribute("k", 0)), operands.dims_of(data)
    if len(dims) != 2:
        raise invalid("EyeLike", "the input is no matrix", input=dims)
    dtype = tvm_api.dtype_of(data)
    if number := node.attribute("dtype", 0):
        dtype = str(helper.tensor_dtype_to_np_dtype(number))

    def compute(sizes: list[Any]) -> Tensor:
        return te.compute(
            sizes, lambda i, j: tvm_api.equal(j - i, tvm_api.integer(k)).astype(dtype), "eye"
        )

    return operands.computed(node, compute, [], dims)


def range_of(node: Node) -> Expr:
    """The numbers from the first input before the second, whose distance is the third.

    The result has a symbolic size unless all are numbers.
    """
    bounds = [known.known(each, node.parameters[1]) for each in node.inputs]
    held = [each for each in bounds if each is not None]
    if len(held) == len(bounds) and not any(each.symbolic for each in held):
        return node.converted()
    if len(held) < len(bounds):
        return _range_at_run_time(node)
    start, limit, step = (each.values.reshape(())[()] for each in held)
    count = length_of(start, limit, step)
    if count is None:
        raise refuse("Range", delta=step)

    def compute(sizes: list[Any]) -> Tensor:
        length, first, distance = sizes
        return te.compute((length,), lambda i: first + i * distance, "range")

    return operands.computed(node, compute, [], [count, start, step])


def _range_at_run_time(node: Node) -> Expr:
    builder = node.builder

    def scalar(at: int) -> Expr:
        value = operands.data_of(node, at)
        return builder.emit(relax.op.reshape(value, relax.ShapeExpr([])))

    start, limit, step = map(scalar, range(3))
    dtype = tvm_api.dtype_of(start)
    if dtype.startswith(("float", "bfloat")):
        distance = builder.normalize(relax.op.subtract(limit, start))
        wide, single = (relax.op.astype(each, "float64") for each in (distance, step))
        counts = relax.op.astype(relax.op.ceil(relax.op.divide(wide, single)), "int64")
    else:
        # The quotient of the negative distance rounds the number of places up.
        distance = relax.op.subtract(*(relax.op.astype(each, "int64") for each in (start, limit)))
        quotient = relax.op.floor_divide(distance, relax.op.astype(step, "int64"))
        counts = relax.op.negative(quotient)
    length = builder.normalize(relax.op.maximum(counts, relax.const(0, "int64")))
    vector = builder.normalize(relax.op.reshape(length, relax.ShapeExpr([1])))

    def compute(first: Tensor, between: Tensor, sizes: list[Any]) -> Tensor:
        return te.compute(sizes, lambda i: first() + i.astype(dtype) * between(), "range")

    sizes = operands.symbols_of(builder, vector, 1, "range")
    return operands.computed(node, compute, [start, step], sizes)


CONVERSIONS: dict[str, Convert] = {
    "Expand": expand,
    "Tile": tile,
    "ConstantOfShape": constant_of_shape,
    "EyeLike": eye_like,
    "Range": range_of,
}


def _ignores_own_size() -> bool:
    """True if Expand by a shape given at run time keeps no dimension of the data for a 1."""
    data, shape = np.arange(3, dtype=np.float32).reshape(3, 1), np.array([2, 1, 2], np.int64)
    model = node_model("Expand", {"x": data, "shape": shape}, 13)
    return fails(model, [data, shape], [np.broadcast_to(data, (2, 3, 2))])


def _fills_no_shape_at_run_time() -> bool:
    shape = np.array([2, 0, 3], np.int64)
    model = node_model("ConstantOfShape", {"shape": shape}, 9)
    return fails(model, [shape], [np.zeros((2, 0, 3), np.float32)])


def _makes_no_other_dtype() -> bool:
    data = np.zeros((2, 3), np.int32)
    model = node_model("EyeLike", {"x": data}, 9, dtype=1, k=1)
    return fails(model, [data], [np.eye(2, 3, 1, np.float32)])


FIX = Fix(
    name="onnx_expand",
    operators=tuple(CONVERSIONS),
    fault="ONNX's Expand gives wrong shapes at run time; ConstantOfShape and EyeLike fail there",
    issue=None,
    parts=(
        FaultPart("Expand at run time", _ignores_own_size),
        FaultPart("ConstantOfShape at run time", _fills_no_shape_at_run_time),
        FaultPart("EyeLike of another dtype", _makes_no_other_dtype),
    ),
    rebindings=converting.rebindings(CONVERSIONS),
    after="onnx_reshape",
    patch=converting.patch(CONVERSIONS),
)
