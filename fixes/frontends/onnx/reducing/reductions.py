"""ONNX's reductions.

TVM computes the logarithm of a sum of exponentials as NaN where the largest is infinite, starts a
maximum with the lowest finite number, refuses axes at run time, and knows neither maxima of truth
values nor means, norms and logarithms of integers.
"""

from collections.abc import Callable, Sequence

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import bounded, computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.frontends.onnx.reducing import axes as reduction_axes
from relaxcheck.fixes.frontends.onnx.reducing.axes import Axes
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/reductions.py")

Reduce = Callable[[Node, Expr, Axes], Expr]


def _kind(kind: str) -> Reduce:
    """The sum, product, maximum or minimum itself."""
    return lambda node, data, axes: reduction_axes.reduced(node, data, axes, kind)


def _sum(node: Node, data: Expr, axes: Axes) -> Expr:
    return reduction_axes.reduced(node, data, axes, "sum")


def _sum_of_absolutes(node: Node, data: Expr, axes: Axes) -> Expr:
    # An absolute value of integers without a sign is not lowered.
    unsigned = tvm_api.dtype_of(data).startswith("uint")
    return _sum(node, data if unsigned else node.emit(relax.op.abs(data)), axes)


def _sum_of_squares(node: Node, data: Expr, axes: Axes) -> Expr:
    return _sum(node, node.emit(relax.op.multiply(data, data)), axes)


def _norm(node: Node, data: Expr, axes: Axes) -> Expr:
    return node.emit(relax.op.sqrt(_sum_of_squares(node, data, axes)))


def _log_of_sum(node: Node, data: Expr, axes: Axes) -> Expr:
    return node.emit(relax.op.log(_sum(node, data, axes)))


def _log_of_sum_of_exponentials(node: Node, data: Expr, axes: Axes) -> Expr:
    largest = reduction_axes.reduced(node, data, axes, "max")
    zero = tvm_api.const(np.array(0, tvm_api.dtype_of(data)))
    # Of an infinite maximum, the difference from itself would be NaN.
    finite = node.emit(relax.op.where(relax.op.isfinite(largest), largest, zero))

    def compute(source: Tensor, most: Tensor) -> Tensor:
        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            # Along an axis that is reduced, the maximum has a single element.
            place = [bounded(at, size) for at, size in zip(indices, most.shape, strict=True)]
            return tirx.exp(source[tuple(indices)] - most[tuple(place)])

        return filled(source.shape, element, "powers")

    powers = computed(node, compute, data, finite)
    return node.emit(relax.op.add(relax.op.log(_sum(node, powers, axes)), finite))


def _mean(node: Node, data: Expr, axes: Axes) -> Expr:
    """The mean; of integers, rounded towards 0. NaN, or 0 of integers, if there are no elements."""
    dtype = tvm_api.dtype_of(data)
    result = _sum(node, data, axes)
    dims = tvm_api.shape_of(data)
    over = list(axes.extents) if axes.known is None else [dims[axis] for axis in axes.known]

    def compute(sums: Tensor, extents: Sequence[PrimExpr]) -> Tensor:
        count: PrimExpr = tvm_api.integer(1)
        for extent in extents:
            count = count * extent

        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            value = sums[tuple(indices)]
            if "float" in dtype and tvm_api.as_int(count) == 0:
                # TVM refuses a quotient by a constant 0.
                return tirx.const(float("nan"), dtype)
            if "float" in dtype:
                return value / count.astype(dtype)
            return tirx.truncdiv(value, tvm_api.at_least_one(count).astype(dtype))

        return filled(sums.shape, element, "mean")

    return computed(node, compute, result, over)


_FORMS: dict[str, Reduce] = {
    "ReduceSum": _sum,
    "ReduceProd": _kind("prod"),
    "ReduceMax": _kind("max"),
    "ReduceMin": _kind("min"),
    "ReduceMean": _mean,
    "ReduceL1": _sum_of_absolutes,
    "ReduceL2": _norm,
    "ReduceSumSquare": _sum_of_squares,
    "ReduceLogSum": _log_of_sum,
    "ReduceLogSumExp": _log_of_sum_of_exponentials,
}

_IN_FLOATS = ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp")


def _inner(operator: str, dtype: str) -> str:
    """The dtype to compute a reduction of ``dtype`` in."""
    if dtype == "bool":
        return "int8"
    if dtype in operands.FLOATS:
        return operands.inner_dtype(dtype)
    return "float64" if operator in _IN_FLOATS else dtype


def convert(node: Node) -> Expr:
    """The reduction of ``node``.

    Raises:
        ValueError: an axis or an attribute is invalid.
        OpNotImplemented: the rank of the result depends on values at run time.
    """
    data = operands.required(node, 0, "data")
    axes = reduction_axes.read(node, data)
    dtype = tvm_api.dtype_of(data)
    inner = operands.widened(node, data, _inner(node.operator, dtype))
    result = _FORMS[node.operator](node, inner, axes)
    if node.operator in _IN_FLOATS and dtype not in operands.FLOATS:
        result = node.emit(relax.op.trunc(result))
    if dtype == "bool":
        # The largest of no elements is the lowest integer, which is no truth value.
        zero = tvm_api.const(np.array(0, np.int8))
        result = node.emit(relax.op.greater(result, zero))
    return reduction_axes.shaped(node, data, operands.widened(node, result, dtype), axes)


CONVERSIONS: dict[str, Convert] = dict.fromkeys(_FORMS, convert)


def _overflows() -> bool:
    """True if the logarithm of a sum of exponentials, one of infinity, is not infinity."""
    data = np.array([[np.inf, 0]], np.float32)
    model = node_model("ReduceLogSumExp", {"data": data}, 13, axes=[1])
    return fails(model, [data], [np.full((1, 1), np.inf, np.float32)])


def _refuses_axes() -> bool:
    """True if a sum along an axis that is known at run time alone is refused."""
    data, axes = np.array([[1, 2], [3, 4]], np.float32), np.array([-1], np.int64)
    model = node_model("ReduceSum", {"data": data, "axes": axes}, 13, keepdims=0)
    return fails(model, [data, axes], [np.array([3, 7], np.float32)])


def _lacks_bool() -> bool:
    """True if the maximum of truth values is not computed."""
    data = np.array([[True, False]])
    model = node_model("ReduceMax", {"data": data}, 20, keepdims=0)
    return fails(model, [data], [np.array(True)])


FIX = Fix(
    name="onnx_reductions",
    operators=tuple(_FORMS),
    fault=(
        "ONNX's reductions give NaN, or the lowest finite number, for the largest of -infinity,"
        " and are not imported with axes at run time, or of truth values"
    ),
    issue=None,
    parts=(
        FaultPart("infinities", _overflows),
        FaultPart("axes at run time", _refuses_axes),
        FaultPart("truth values", _lacks_bool),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_rnn",
    patch=patch(CONVERSIONS),
)
