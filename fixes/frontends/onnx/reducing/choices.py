"""ONNX's ArgMax and ArgMin, and Softmax, LogSoftmax and Hardmax.

TVM gives -1 as the place of the largest where all are the lowest of their dtype. It does not
compute bfloat16, and reshapes empty data, or one-hot vectors of symbolic size, to shapes that it
does not know.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, filled, highest, lowest
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.frontends.onnx.reducing.axes import Axes, reduced
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/choices.py")

_ONE_AXIS = 13
"""The opset from which Softmax is along an axis; before it, along all from the axis on."""

_NOWHERE = 2**63 - 1

_MOST_SYMBOLS = 2
"""Data of more symbolic dimensions take TVM minutes to flatten."""


def _reducer(largest: bool, last: bool) -> Any:
    """The place and the value of the largest or smallest; the first or last of equal ones."""

    def better(left: Any, right: Any) -> Any:
        ahead = left[1] > right[1] if largest else left[1] < right[1]
        sooner = left[0] > right[0] if last else left[0] < right[0]
        # Nothing is no place, whatever its value is equal to.
        nowhere = tirx.const(-1 if last else _NOWHERE, "int64")
        empty = tvm_api.equal(right[0], nowhere)
        chosen = tirx.any(ahead, empty, tirx.all(left[1] == right[1], sooner))
        kept = tirx.all(chosen, tirx.Not(tvm_api.equal(left[0], nowhere)))
        return tuple(
            tirx.Select(kept, mine, other) for mine, other in zip(left, right, strict=True)
        )

    def nothing(place: str, dtype: str) -> Any:
        value = lowest(dtype) if largest else highest(dtype)
        return tirx.const(-1 if last else _NOWHERE, place), value

    return te.comm_reducer(better, nothing, name="choice")


def _place(source: Tensor, axes: Sequence[int], largest: bool, last: bool) -> Tensor:
    """The place of the largest or smallest element along ``axes``, which stay with the size 1.

    The elements along several axes are counted in their order.
    """
    reducer = _reducer(largest, last)
    shape = [tvm_api.integer(1) if at in axes else dim for at, dim in enumerate(source.shape)]

    def both(*indices: PrimExpr) -> Any:
        inner = {axis: te.reduce_axis((0, source.shape[axis]), f"k{axis}") for axis in axes}
        at = [
            inner[number].var if number in inner else index for number, index in enumerate(indices)
        ]
        place = _counted(source, at, axes)
        return reducer((place, source[tuple(at)]), axis=list(inner.values()))

    places, _ = te.compute(tuple(shape), both, name="place")
    return filled(shape, lambda at: places[tuple(at)], "chosen")


def _counted(source: Tensor, at: Sequence[PrimExpr], axes: Sequence[int]) -> PrimExpr:
    """The number of the element at ``at`` of ``source``, among those along ``axes``."""
    place = at[axes[0]]
    for axis in axes[1:]:
        place = place * source.shape[axis] + at[axis]
    return place


def arg_extreme(node: Node) -> Expr:
    """The places of the largest or smallest elements along an axis.

    Raises:
        ValueError: an attribute is invalid.
    """
    data = operands.required(node, 0, "data")
    rank = operands.rank_of(data)
    axis = operands.normalized(node, "axis", int(node.attribute("axis", 0)), rank)
    keeps, last = operands.flag(node, "keepdims", 1), operands.flag(node, "select_last_index")
    largest = node.operator == "ArgMax"
    wide = operands.widened(node, data, operands.inner_dtype(tvm_api.dtype_of(data)))
    result = computed(node, lambda source: _place(source, [axis], largest, last), wide)
    return result if keeps else node.emit(relax.op.squeeze(result, [axis]))


def softmax(node: Node) -> Expr:
    """Softmax, its logarithm, or 1 for the largest element and 0 for others.

    Raises:
        ValueError: there is no such axis.
    """
    data = operands.required(node, 0, "input")
    dims, dtype = tvm_api.shape_of(data), tvm_api.dtype_of(data)
    data = operands.widened(node, data, operands.inner_dtype(dtype))
    by_axis = node.opset >= _ONE_AXIS
    axis = int(node.attribute("axis", -1 if by_axis else 1))
    if by_axis:
        axis = operands.normalized(node, "axis", axis, len(dims))
        return operands.widened(node, _weighted(node, data, axis), dtype)
    axis = operands.normalized(node, "axis", axis, len(dims), len(dims))
    sizes = []
    for part in (dims[:axis], dims[axis:]):
        product: PrimExpr = tvm_api.integer(1)
        for dim in part:
            product = product * dim
        sizes.append(product)
    known = list(map(tvm_api.as_int, dims))
    if 0 in known:
        return node.emit(relax.op.zeros(relax.ShapeExpr(dims), dtype))
    if node.operator == "Hardmax" or known.count(None) > _MOST_SYMBOLS:
        return operands.widened(node, _of_all(node, data, list(range(axis, len(dims)))), dtype)
    flat = operands.reshaped(node, data, sizes)
    result = operands.reshaped(node, _weighted(node, flat, 1), dims)
    return operands.widened(node, result, dtype)


def _of_all(node: Node, data: Expr, axes: list[int]) -> Expr:
    """Softmax, its logarithm, or a hot element, along all of ``axes``."""
    if not axes:
        # Each element is the only part of its line.
        likes = relax.op.zeros_like if node.operator == "LogSoftmax" else relax.op.ones_like
        return node.emit(likes(data))
    if node.operator == "Hardmax":
        return node.emit(_hot(node, data, axes))
    # TVM's own largest element of none is an error, even where none are asked for.
    largest = reduced(node, data, Axes(tuple(axes)), "max")
    below = node.emit(relax.op.subtract(data, largest))
    powers = node.emit(relax.op.exp(below))
    total = node.emit(relax.op.sum(powers, axes, True))
    if node.operator == "Softmax":
        return node.emit(relax.op.divide(powers, total))
    return node.emit(relax.op.subtract(below, node.emit(relax.op.log(total))))


def _weighted(node: Node, data: Expr, axis: int) -> Expr:
    if node.operator == "Softmax":
        return node.emit(relax.op.nn.softmax(data, axis))
    if node.operator == "LogSoftmax":
        return node.emit(relax.op.nn.log_softmax(data, axis))
    return _hot(node, data, [axis])


def _hot(node: Node, data: Expr, axes: Sequence[int]) -> Expr:
    """1 for the first of the largest elements along ``axes``, 0 for others."""
    dtype = tvm_api.dtype_of(data)

    def compute(source: Tensor) -> Tensor:
        places = _place(source, axes, True, False)

        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            line = [
                tvm_api.integer(0) if number in axes else index for number, index in enumerate(at)
            ]
            return tvm_api.equal(places[tuple(line)], _counted(source, at, axes)).astype(dtype)

        return filled(source.shape, element, "hot")

    return computed(node, compute, data)


CONVERSIONS: dict[str, Convert] = {
    "ArgMax": arg_extreme,
    "ArgMin": arg_extreme,
    "Softmax": softmax,
    "LogSoftmax": softmax,
    "Hardmax": softmax,
}


def _mistakes_lowest() -> bool:
    """True if the lowest integer alone has no place."""
    data = np.array([0], np.uint64)
    model = node_model("ArgMax", {"data": data}, 13, keepdims=0)
    return fails(model, [data], [np.array(0, np.int64)])


def _refuses_symbols() -> bool:
    """True if one-hot vectors of symbolic size are not computed."""
    data = np.array([[1, 3, 2]], np.float32)
    model = node_model("Hardmax", {"input": data}, 13, shapes={"input": ("B", "n")})
    return fails(model, [data], [np.array([[0, 1, 0]], np.float32)])


FIX = Fix(
    name="onnx_choices",
    operators=tuple(CONVERSIONS),
    fault=(
        "ONNX's ArgMax gives -1 where all are the lowest of their dtype, and ArgMin where all are"
        " the highest; Hardmax does not know symbolic sizes"
    ),
    issue=None,
    parts=(
        FaultPart("the lowest integers", _mistakes_lowest),
        FaultPart("symbolic sizes", _refuses_symbols),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_filters",
    patch=patch(CONVERSIONS),
)
