"""OneHot, NonZero, Trilu and Scatter: elements chosen by their values or places."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import converting
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.movement import operands
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor, shapes

UPSTREAM = NewFile("relax/frontend/onnx/choosing.py")


def one_hot(node: Node) -> Expr:
    """The second value where the place along a new axis is the index, the first elsewhere."""
    indices = operands.data_of(node)
    values = operands.data_of(node, 2)
    dims = operands.dims_of(indices)
    axis = operands.axis_of(node, int(node.attribute("axis", -1)), len(dims) + 1)
    depths = operands.integers(node, 1)
    if depths is None:
        tensor = node.builder.normalize(relax.op.reshape(operands.as_tensor(node, 1), (1,)))
        depths = operands.symbols_of(node.builder, tensor, 1, "depth")
    if len(depths) != 1:
        raise invalid("OneHot", "a single number is needed", depth=depths)
    depth = int(depths[0]) if isinstance(depths[0], float) else depths[0]

    def compute(chosen: Tensor, pair: Tensor, sizes: list[Any]) -> Tensor:
        def element(*index: Any) -> Any:
            at, rest = index[axis], [*index[:axis], *index[axis + 1 :]]
            # Indices may be floats.
            wanted = chosen(*rest).astype("int64")
            hits = shapes.any_of(
                [tvm_api.equal(wanted, at), tvm_api.equal(wanted + sizes[axis], at)]
            )
            return te.if_then_else(hits, pair(1), pair(0))

        return te.compute(sizes, element, name="one_hot")

    return operands.computed(node, compute, [indices, values], [*dims[:axis], depth, *dims[axis:]])


def non_zero(node: Node) -> Expr:
    """The places of the elements that are not 0, a row for each axis: none of a scalar."""
    data = operands.data_of(node)
    shape = tvm_api.shape_of(data)
    if any(tvm_api.as_int(size) == 0 for size in shape):
        # TVM writes a constant of shape (2, 0) into a library, and cannot read it from there.
        return relax.op.zeros((len(shape), 0), "int64")
    if shape:
        return node.converted()
    row = node.builder.normalize(relax.op.reshape(data, (1,)))
    count = tvm_api.shape_var("nonzero_numbers")
    node.builder.match_cast(relax.op.nonzero(row), tvm_api.tensor_type((1, count), "int64"))
    return relax.op.zeros((0, count), "int64")


def trilu(node: Node) -> Expr:
    """The part of each matrix above, or below, the diagonal ``k``, and 0 elsewhere."""
    data = operands.data_of(node)
    dims, dtype = operands.dims_of(data), tvm_api.dtype_of(data)
    if len(dims) < 2:
        raise invalid("Trilu", "the input has no matrices", input=dims)
    upper, diagonals = bool(node.attribute("upper", 1)), operands.integers(node, 1)
    if operands.is_absent(node, 1):
        diagonals = [0]
    tensors = [data] if diagonals is not None else [data, operands.as_tensor(node, 1)]

    def compute(*arguments: Any) -> Tensor:
        *sources, sizes = arguments
        extents = sizes[: len(dims)]
        matrices = sources[0]
        k = sizes[-1] if diagonals is not None else sources[1](*[0] * len(sources[1].shape))

        def element(*index: Any) -> Any:
            distance = index[-1] - index[-2]
            kept = distance >= k if upper else distance <= k
            return te.if_then_else(kept, matrices(*index), tirx.const(0, dtype))

        return te.compute(extents, element, name="trilu")

    return operands.computed(node, compute, tensors, [*dims, *(diagonals or [])])


_DEPRECATED_SINCE = 11


def scatter(node: Node) -> Expr:
    """The data with updates along an axis, at the places that indices of any shape name."""
    if node.opset >= _DEPRECATED_SINCE:
        return node.converted()
    data, indices, updates = (operands.data_of(node, at) for at in range(3))
    own, dims = operands.dims_of(data), operands.dims_of(indices)
    axis = operands.axis_of(node, int(node.attribute("axis", 0)), len(own))
    count: Any = 1
    for dim in dims:
        count = count * dim
    count = known.number_of(count)

    def compute(places: Tensor, sizes: list[Any]) -> Tensor:
        def element(at: PrimExpr, column: PrimExpr) -> PrimExpr:
            index = _unraveled(at, places.shape)
            along = places(*index).astype("int64")
            along = tirx.Select(along < 0, along + sizes[1], along)
            coordinates = [along if each == axis else place for each, place in enumerate(index)]
            result = coordinates[-1]
            for each, coordinate in reversed(list(enumerate(coordinates[:-1]))):
                result = te.if_then_else(
                    tvm_api.equal(column, tvm_api.integer(each)), coordinate, result
                )
            return result

        return te.compute((sizes[0], tvm_api.integer(len(own))), element, name="coordinates")

    target = node.emit(operands.computed(node, compute, [indices], [count, own[axis]]))
    flat = relax.op.reshape(updates, relax.ShapeExpr([known.dim_of(count)]))
    if not isinstance(count, int) or count:
        return relax.op.scatter_nd(data, target, node.emit(flat))
    return data


def _unraveled(at: PrimExpr, sizes: Sequence[Any]) -> list[PrimExpr]:
    """The index of element ``at`` of a tensor of ``sizes``."""
    index: list[PrimExpr] = []
    for size in reversed(sizes):
        extent = tvm_api.at_least_one(known.dim_of(size))
        index.insert(0, tvm_api.floormod(at, extent))
        at = tvm_api.floordiv(at, extent)
    return index


CONVERSIONS: dict[str, Convert] = {
    "OneHot": one_hot,
    "NonZero": non_zero,
    "Trilu": trilu,
    "Scatter": scatter,
}


def _takes_values_of_one_dtype() -> bool:
    """True if OneHot gives results of another dtype than its values have."""
    inputs: dict[str, Array] = {
        "indices": np.array([1, -1], np.int64),
        "depth": np.array(3, np.int64),
        "values": np.array([0, 5], np.int16),
    }
    model = node_model("OneHot", inputs, 11, held=["depth", "values"])
    expected = np.array([[0, 5, 0], [0, 0, 5]], np.int16)
    return fails(model, [inputs["indices"]], [expected])


def _gives_scalars_a_row() -> bool:
    data = np.array(2, np.float32)
    return fails(node_model("NonZero", {"x": data}, 13), [data], [np.zeros((0, 1), np.int64)])


def _loses_empty_constants() -> bool:
    data = np.zeros((2, 0), np.float32)
    model = node_model("NonZero", {"x": data}, 13, held=["x"])
    return fails(model, [], [np.zeros((2, 0), np.int64)])


FIX = Fix(
    name="onnx_choosing",
    operators=tuple(CONVERSIONS),
    fault=(
        "ONNX's OneHot fails or gives another dtype, NonZero of a scalar another shape; NonZero of"
        " an initializer of shape (2, 0) compiles to a library that cannot be loaded"
    ),
    issue=None,
    parts=(
        FaultPart("values of OneHot", _takes_values_of_one_dtype),
        FaultPart("NonZero of a scalar", _gives_scalars_a_row),
        FaultPart("NonZero of no elements", _loses_empty_constants),
    ),
    rebindings=converting.rebindings(CONVERSIONS),
    after="onnx_pad",
    patch=converting.patch(CONVERSIONS),
)
