"""Reshape, Flatten, Squeeze and Unsqueeze: the same elements in another shape."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import converting
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.movement import operands
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/reshaping.py")


def reshape(node: Node) -> Expr:
    """The data in the shape of the second input, whose length is known.

    A dimension of the shape that is known only at run time becomes a symbol.
    """
    data = operands.data_of(node)
    own = operands.dims_of(data)
    copies = not node.attribute("allowzero", 0)
    wanted = operands.integers(node, 1, "shape")
    if wanted is None:
        return _in_shape(data, _at_run_time(node, own, copies))
    sizes = list(wanted)
    for at, size in enumerate(wanted):
        if isinstance(size, int) and size == 0 and copies:
            if at >= len(own):
                raise invalid("Reshape", f"the data have {len(own)} axes", shape=wanted)
            sizes[at] = own[at]
    return _in_shape(data, _filled(node, own, sizes))


def _filled(node: Node, own: Sequence[Any], sizes: list[Any]) -> list[Any]:
    """``sizes`` with the number that is left over in place of -1."""
    left_out = [at for at, size in enumerate(sizes) if isinstance(size, int) and size == -1]
    if len(left_out) > 1 or any(isinstance(size, int) and size < -1 for size in sizes):
        raise invalid("Reshape", "at most a single dimension may be -1", shape=sizes)
    total = _product(own)
    rest = _product([size for at, size in enumerate(sizes) if at not in left_out])
    if isinstance(total, int) and isinstance(rest, int):
        fits = total % rest == 0 if left_out and rest else total == (0 if left_out else rest)
        if not fits:
            raise invalid("Reshape", f"the data have {total} elements", shape=sizes)
    for at in left_out:
        # Of no elements, any number of them are left over.
        sizes[at] = 0 if isinstance(rest, int) and rest == 0 else _quotient(total, rest)
    return sizes


def _quotient(total: Any, rest: Any) -> Any:
    if isinstance(total, int) and isinstance(rest, int):
        return total // rest
    return known.number_of(tvm_api.floordiv(known.dim_of(total), known.dim_of(rest)))


def _product(dims: Sequence[Any]) -> Any:
    return known.number_of(functools.reduce(lambda left, right: left * right, dims, 1))


def _in_shape(data: Expr, dims: Sequence[Any]) -> Expr:
    if any(isinstance(dim, int) and dim == 0 for dim in dims):
        # For Relax's reshape a 0 stands for a dimension of the data.
        return relax.op.zeros([known.dim_of(dim) for dim in dims], tvm_api.dtype_of(data))
    return relax.op.reshape(data, relax.ShapeExpr([known.dim_of(dim) for dim in dims]))


def _at_run_time(node: Node, own: Sequence[Any], copies: bool) -> list[Any]:
    """Symbols for the shape that is the second input."""
    builder = node.builder
    length = operands.length_of(node, 1, "shape")
    wanted = operands.as_tensor(node, 1)
    zero, single, minus = (relax.const(value, "int64") for value in (0, 1, -1))
    if copies:
        padded = operands.vector_of(node, [*own[:length], *[1] * (length - len(own))])
        wanted = builder.normalize(relax.op.where(relax.op.equal(wanted, zero), padded, wanted))
    total = operands.vector_of(node, [_product(own)])
    unknown = builder.normalize(relax.op.equal(wanted, minus))
    others = builder.normalize(relax.op.where(unknown, single, wanted))
    rest = builder.normalize(relax.op.prod(others, axis=[0], keepdims=True))
    # A product of 0 leaves nothing to fill.
    rest = builder.normalize(relax.op.maximum(rest, single))
    filled = relax.op.where(unknown, relax.op.floor_divide(total, rest), wanted)
    return operands.symbols_of(builder, builder.normalize(filled), length, "reshape_dim")


def flatten(node: Node) -> Expr:
    """The data as a matrix, whose rows are the axes before ``axis``."""
    data = operands.data_of(node)
    own, axis = operands.dims_of(data), int(node.attribute("axis", 1))
    if not -len(own) <= axis <= len(own):
        raise invalid("Flatten", f"the rank is {len(own)}", axis=axis)
    if axis < 0:
        axis += len(own)
    return _in_shape(data, [_product(own[:axis]), _product(own[axis:])])


def squeeze(node: Node) -> Expr:
    """The data without the axes that the node names, or without all axes of size 1."""
    data = operands.data_of(node)
    own = operands.dims_of(data)
    axes = operands.integers(node, 1, "axes")
    if axes is None and not operands.is_absent(node, 1, "axes"):
        return _squeezed_at_run_time(node, data, own)
    if axes is None:
        symbolic = [dim for dim in own if not isinstance(dim, int)]
        if symbolic:
            # The rank of the result depends on their sizes.
            raise refuse("Squeeze", axes=None, data=own)
        return _in_shape(data, [dim for dim in own if dim != 1])
    gone = operands.axes_of(node, axes, len(own))
    if any(isinstance(own[axis], int) and own[axis] != 1 for axis in gone):
        raise invalid("Squeeze", "the size of each axis has to be 1", axes=axes, data=own)
    return _in_shape(data, [dim for axis, dim in enumerate(own) if axis not in gone])


def _squeezed_at_run_time(node: Node, data: Expr, own: Sequence[Any]) -> Expr:
    builder, rank = node.builder, len(own)
    count = operands.length_of(node, 1, "axes")
    named = operands.named_axes(node, 1, rank)
    kept = relax.op.subtract(relax.const(1, "int64"), relax.op.sum(named, axis=[0]))
    kept = builder.normalize(kept)
    # The place of each axis that is kept, in a row of the result's axes.
    places = builder.normalize(relax.op.cumsum(kept, axis=0, dtype="int64"))
    wanted = tvm_api.const(np.arange(1, rank - count + 1, dtype=np.int64).reshape(-1, 1))
    chosen = relax.op.astype(relax.op.equal(places, wanted), "int64")
    sizes = relax.op.multiply(operands.vector_of(node, own), kept)
    dims = builder.normalize(relax.op.sum(relax.op.multiply(chosen, sizes), axis=[1]))
    return _in_shape(data, operands.symbols_of(builder, dims, rank - count, "squeezed"))


def unsqueeze(node: Node) -> Expr:
    """The data with further axes of size 1."""
    axes = operands.integers(node, 1, "axes")
    if axes is None:
        return node.converted()
    data = operands.data_of(node)
    own = operands.dims_of(data)
    rank = len(own) + len(axes)
    added, rest = operands.axes_of(node, axes, rank), iter(own)
    return _in_shape(data, [1 if axis in added else next(rest) for axis in range(rank)])


CONVERSIONS: dict[str, Convert] = {
    "Reshape": reshape,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
}


def _lacks_shapes_at_run_time() -> bool:
    data, shape = np.arange(12, dtype=np.float32).reshape(2, 3, 2), np.array([0, -1], np.int64)
    model = node_model("Reshape", {"x": data, "shape": shape}, 14)
    return fails(model, [data, shape], [data.reshape(2, 6)])


def _flattens_nothing_wrongly() -> bool:
    data = np.zeros((2, 0, 3), np.float32)
    model = node_model("Flatten", {"x": data}, 13, held=["x"], axis=2)
    return fails(model, [], [data.reshape(0, 3)])


FIX = Fix(
    name="onnx_reshape",
    operators=tuple(CONVERSIONS),
    fault="ONNX's Reshape to a shape given at run time fails; Flatten of no elements is wrong",
    issue=None,
    parts=(
        FaultPart("Reshape at run time", _lacks_shapes_at_run_time),
        FaultPart("Flatten of no elements", _flattens_nothing_wrongly),
    ),
    rebindings=converting.rebindings(CONVERSIONS),
    after="onnx_local_functions",
    patch=converting.patch(CONVERSIONS),
)
