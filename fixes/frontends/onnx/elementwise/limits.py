"""Clip, Min, Max, Sum and Mean of ONNX: limits of every kind, NaN, and broadcasting of symbols."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import broadcast, computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import (
    cast,
    constant,
    is_float,
    is_nan,
    tensor,
    wide,
)
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions

UPSTREAM = NewFile(
    "relax/frontend/onnx/elementwise/limits.py",
    "Clip, Min, Max, Sum and Mean of ONNX: limits of every kind, NaN, broadcasting of symbols.",
)

Pairwise = Callable[[Expr, Expr], Expr]

_LARGEST = 3.4028234663852886e38
"""The largest float32, which limits by default where limits are attributes."""

_LIMITS_ARE_INPUTS = 11


def _clip(node: Node) -> Expr:
    """Comparisons with NaN are false: it stays, and does not limit."""
    x = tensor(node, 0)
    dtype = tvm_api.dtype_of(x)
    if node.opset < _LIMITS_ARE_INPUTS:
        defaults = {"min": -_LARGEST, "max": _LARGEST}
        least, most = (_attribute(node, *default, dtype) for default in defaults.items())
    else:
        least, most = (_scalar(node, index) for index in (1, 2))
    if least is not None:
        x = _limited(node, x, least, is_least=True)
    if most is not None:
        x = _limited(node, x, most, is_least=False)
    return x


def _limited(node: Node, x: Expr, limit: Expr, *, is_least: bool) -> Expr:
    """``x``, or ``limit`` where ``x`` is beyond it."""
    if not (tvm_api.has_shape(x) and tvm_api.has_shape(limit)):
        beyond = relax.op.less(x, limit) if is_least else relax.op.greater(x, limit)
        return node.emit(relax.op.where(beyond, limit, x))

    def compute(source: Tensor, bound: Tensor) -> Tensor:
        def chosen(at: Sequence[PrimExpr]) -> PrimExpr:
            element, end = source[tuple(at)], broadcast(bound, at)
            # A select is computed for several elements at once, as a branch is not.
            return tirx.Select(element < end if is_least else element > end, end, element)

        return filled(source.shape, chosen, "limited")

    return computed(node, compute, x, limit)


def _attribute(node: Node, name: str, default: float, dtype: str) -> Expr:
    value = float(np.float32(node.attribute(name, default)))
    if dtype == "float16":
        # The largest float32 is infinite, and NumPy would warn of that.
        with np.errstate(over="ignore"):
            value = float(np.float16(value))
    return constant(value, dtype)


def _scalar(node: Node, index: int) -> Expr | None:
    if node.input(index) is None:
        return None
    limit = tensor(node, index)
    if tvm_api.has_shape(limit) and not tvm_api.shape_of(limit):
        return limit
    return node.emit(relax.op.reshape(limit, ()))


def _extreme(node: Node, is_beyond: Pairwise, whole: Pairwise) -> Expr:
    """The first of each pair if it ``is_beyond`` the second, or NaN; ``whole`` of integers."""
    values = [tensor(node, index) for index in range(len(node.inputs))]
    dtype = tvm_api.dtype_of(values[0])

    def beyond(x: Expr, y: Expr) -> Expr:
        if not is_float(dtype):
            return node.emit(whole(x, y))
        first = relax.op.logical_or(is_beyond(x, y), is_nan(x, dtype))
        return node.emit(relax.op.where(first, x, y))

    return functools.reduce(beyond, values)


def _max(node: Node) -> Expr:
    folded = _folded(node, np.max)
    return _extreme(node, relax.op.greater, relax.op.maximum) if folded is None else folded


def _min(node: Node) -> Expr:
    folded = _folded(node, np.min)
    return _extreme(node, relax.op.less, relax.op.minimum) if folded is None else folded


def _folded(node: Node, reduce: Callable[..., Any]) -> Expr | None:
    """The result of constants, which shapes may depend on; None if an input is none."""
    if not all(map(tvm_api_functions.is_constant, node.inputs)):
        return None
    arrays = [tvm_api.tensor_of(each).numpy() for each in node.inputs]
    dtype = arrays[0].dtype
    # Of halves, sums are taken in float32.
    inner = np.float32 if wide(dtype.name) != dtype.name else dtype
    with np.errstate(all="ignore"):
        stacked = np.stack(np.broadcast_arrays(*(array.astype(inner) for array in arrays)))
        return tvm_api.const(np.asarray(reduce(stacked, axis=0)).astype(dtype))


def _sum_of(node: Node, divisor: int) -> Expr:
    values = [tensor(node, index) for index in range(len(node.inputs))]
    dtype = tvm_api.dtype_of(values[0])
    inner = wide(dtype)
    widened = [cast(each, dtype, inner) for each in values]
    result = functools.reduce(lambda x, y: node.emit(relax.op.add(x, y)), widened)
    if divisor > 1:
        result = relax.op.divide(result, constant(float(divisor), inner))
    return cast(result, inner, dtype)


def _sum(node: Node) -> Expr:
    folded = _folded(node, np.sum)
    return _sum_of(node, 1) if folded is None else folded


def _mean(node: Node) -> Expr:
    folded = _folded(node, np.mean)
    return _sum_of(node, len(node.inputs)) if folded is None else folded


CONVERSIONS: dict[str, Convert] = {
    "Clip": _clip,
    "Max": _max,
    "Min": _min,
    "Sum": _sum,
    "Mean": _mean,
}


def _clips_nan() -> bool:
    x = np.array([np.nan, 3], "float32")
    most = np.array(2, "float32")
    model = node_model("Clip", {"x": x, "min": None, "max": most}, 13)
    return not fails(model, [x, most], [np.array([np.nan, 2], "float32")])


def _keeps_half() -> bool:
    x = np.array([1, 2], "float16")
    return not fails(node_model("Clip", {"x": x}, 7), [x], [x])


def _keeps_nan() -> bool:
    x, y = np.array([np.nan, 3], "float32"), np.array([1, 1], "float32")
    return not fails(node_model("Max", {"x": x, "y": y}, 13), [x, y], [x])


def _broadcasts_symbols() -> bool:
    x, y = np.ones((2, 1), "float32"), np.ones((1, 3), "float32")
    shapes = {"x": ("a", "b"), "y": ("c", "d")}
    model = node_model("Sum", {"x": x, "y": y}, 13, shapes=shapes)
    return not fails(model, [x, y], [np.full((2, 3), 2, "float32")])


FIX = Fix(
    name="onnx_limits",
    operators=tuple(CONVERSIONS),
    fault=(
        "Clip, Min and Max of ONNX models replace NaN, Clip ignores default limits, and Min, Max,"
        " Sum and Mean do not broadcast symbolic dimensions"
    ),
    issue=None,
    parts=(
        FaultPart("NaN in Clip", lambda: not _clips_nan()),
        FaultPart("NaN in Max", lambda: not _keeps_nan()),
        FaultPart("Clip without limits", lambda: not _keeps_half()),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_arithmetic",
    patch=patch(CONVERSIONS),
)
