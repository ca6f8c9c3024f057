"""Reductions over some or all axes, in the dtype that PyTorch accumulates in.

A tensor without dimensions has one axis to reduce, as PyTorch has it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/torch/reductions.py")

Reduce = Callable[..., Expr]


def _has(node: Node, name: str) -> bool:
    return any(argument.name == name for argument in node.call.target._schema.arguments)


def _optional(node: Node, name: str, default: Any) -> Any:
    """The argument ``name``, ``default`` where the schema has none of this name."""
    return node.argument(name) if _has(node, name) else default


def reduced(node: Node, reduce: Reduce, value: Expr) -> Expr:
    """``value`` reduced over the axes ``dim`` of ``node``, which stay with ``keepdim``."""
    keeps = bool(_optional(node, "keepdim", False))
    return _over(node, reduce, value, _optional(node, "dim", None), keeps)


def _over(node: Node, reduce: Reduce, value: Expr, dims: Any, keeps: bool) -> Expr:
    rank = operands.rank_of(value)
    axes = operands.axes(node, dims, max(rank, 1))
    keeps = keeps and rank > 0
    return node.emit(reduce(operands.lifted(node, value), axes, keepdims=keeps))


def convert_total(node: Node) -> Expr:
    """The sum, mean or product, of elements in the dtype of the result.

    Sums of narrow floats are in float32, products are not, as PyTorch has it.
    """
    name, dtype = node.operator.partition(".")[0], node.dtype
    reduce = {"sum": relax.op.sum, "mean": relax.op.mean, "prod": relax.op.prod}[name]
    data = operands.tensor(node, node.argument("self"), dtype)
    if name != "prod":
        data = operands.cast(node, data, operands.inner_dtype(dtype))
    return operands.cast(node, reduced(node, reduce, data), dtype)


def convert_extreme(node: Node) -> Expr:
    """The largest or the smallest element, NaN if one is; over one axis, where it is too."""
    is_least = "min" in node.operator.partition(".")[0]
    data, dtype = node.argument("self"), node.dtype
    inner = operands.cast(node, data, "int8" if dtype == "bool" else dtype)
    values = operands.cast(node, extreme(node, inner, is_least), dtype)
    if not node.operator.endswith(".dim"):
        return values
    return relax.Tuple([values, _place(node, inner, is_least)])


def convert_place(node: Node) -> Expr:
    """The index of the largest or the smallest element, of all if there is no axis."""
    return _place(node, node.argument("self"), node.operator.startswith("argmin"))


def extreme(node: Node, value: Expr, is_least: bool) -> Expr:
    """The largest or the smallest element of ``value`` over the axes of ``node``, NaN if one is."""
    result = reduced(node, relax.op.min if is_least else relax.op.max, value)
    dtype = tvm_api.dtype_of(value)
    if "float" not in dtype:
        return result
    fails = operands.cast(node, reduced(node, relax.op.max, _not_numbers(node, value)), "bool")
    return node.emit(relax.op.where(fails, operands.number(float("nan"), dtype), result))


def _place(node: Node, value: Expr, is_least: bool) -> Expr:
    """The index in int64 of the largest or the smallest element, of the first NaN if one is."""
    dim, rank = node.argument("dim"), operands.rank_of(value)
    axis = None if dim is None else operands.axis(node, dim, rank)
    # TVM does not compile these of bfloat16.
    value = operands.cast(node, value, operands.inner_dtype(tvm_api.dtype_of(value)))
    keeps = bool(node.argument("keepdim")) and rank > 0

    def over(reduce: Reduce, data: Expr) -> Expr:
        return node.emit(reduce(operands.lifted(node, data), axis, keepdims=keeps))

    places = over(relax.op.argmin if is_least else relax.op.argmax, value)
    if "float" in tvm_api.dtype_of(value):
        flags = _not_numbers(node, value)
        fails = operands.cast(node, over(relax.op.max, flags), "bool")
        places = node.emit(relax.op.where(fails, over(relax.op.argmax, flags), places))
    return operands.cast(node, places, "int64")


def _not_numbers(node: Node, value: Expr) -> Expr:
    """1 in int8 where ``value``, of floats, is NaN."""
    # TVM has no isnan of bfloat16.
    wide = operands.cast(node, value, operands.inner_dtype(tvm_api.dtype_of(value)))
    return operands.cast(node, node.emit(relax.op.isnan(wide)), "int8")


def convert_truth(node: Node) -> Expr:
    """True where any or all elements are not 0; a list of no axes leaves the shape as it is."""
    every = node.operator.startswith("all")
    flags = truths(node, node.argument("self"))
    if node.operator.endswith(".dims") and node.argument("dim") == []:
        return operands.cast(node, flags, node.dtype)
    flags = operands.cast(node, flags, "int8")
    result = reduced(node, relax.op.min if every else relax.op.max, flags)
    return operands.cast(node, result, node.dtype)


def truths(node: Node, value: Expr) -> Expr:
    """True where ``value`` is not 0."""
    dtype = tvm_api.dtype_of(value)
    if dtype == "bool":
        return value
    return node.emit(relax.op.not_equal(value, operands.number(0, dtype)))


def convert_variance(node: Node) -> Expr:
    """The variance or the standard deviation, with the mean if the name has it."""
    name = node.operator.partition(".")[0]
    dtype = node.dtype
    inner = operands.inner_dtype(dtype)
    data = operands.cast(node, node.argument("self"), inner)
    rank = operands.rank_of(data)
    dims = operands.axes(node, _optional(node, "dim", None), max(rank, 1))
    keeps = bool(_optional(node, "keepdim", False))
    data = operands.lifted(node, data)
    sizes = [tvm_api.shape_of(data)[dim] for dim in dims]
    # TVM does not compile the mean of nothing, which is NaN.
    mean = _per_freedom(node, node.emit(relax.op.sum(data, dims, keepdims=True)), sizes, 0)
    apart = node.emit(relax.op.subtract(data, mean))
    squares = node.emit(relax.op.multiply(apart, apart))
    total = node.emit(relax.op.sum(squares, dims, keepdims=keeps and rank > 0))
    result = _per_freedom(node, total, sizes, _correction(node))
    if name.startswith("std"):
        result = node.emit(relax.op.sqrt(result))
    result = operands.cast(node, result, dtype)
    if not name.endswith("_mean"):
        return result
    if not (keeps and rank > 0):
        mean = node.emit(relax.op.squeeze(mean, dims))
    return relax.Tuple([result, operands.cast(node, mean, dtype)])


def _correction(node: Node) -> float:
    """The number by which the elements count less, 1 by default."""
    correction = _optional(node, "correction", None)
    if correction is None:
        correction = 0 if _optional(node, "unbiased", True) is False else 1
    return float(correction)


def _per_freedom(node: Node, total: Expr, sizes: Sequence[PrimExpr], correction: float) -> Expr:
    """``total`` over the number of elements less the correction, 0 at least."""
    dtype = tvm_api.dtype_of(total)
    count: PrimExpr = tvm_api.integer(1)
    for size in sizes:
        count = count * size
    known = tvm_api.as_int(count)
    if known is not None:
        left = max(known - correction, 0.0)
        if known <= 1 and not left:
            # The sum of no element or of one apart from itself is 0, which TVM knows: it fails to
            # divide it by 0.
            shape = relax.ShapeExpr(tvm_api.shape_of(total))
            return node.emit(relax.op.broadcast_to(operands.number(float("nan"), dtype), shape))
        if not left:
            # TVM refuses the constant 0 as a divisor; the product is that quotient.
            return node.emit(relax.op.multiply(total, operands.number(float("inf"), dtype)))
        return node.emit(relax.op.divide(total, operands.number(left, dtype)))
    number = operands.tensor(node, count, dtype)
    less = node.emit(relax.op.subtract(number, operands.number(correction, dtype)))
    freedom = node.emit(relax.op.maximum(less, operands.number(0.0, dtype)))
    return node.emit(relax.op.divide(total, freedom))


def convert_norm(node: Node) -> Expr:
    """The vector norm of any order."""
    order, dtype = float(node.argument("ord")), node.dtype
    inner = operands.inner_dtype(dtype)
    sizes = node.emit(relax.op.abs(operands.cast(node, node.argument("self"), inner)))
    if order in (float("inf"), float("-inf")):
        result = extreme(node, sizes, is_least=order < 0)
    elif order == 0:
        result = reduced(node, relax.op.sum, operands.cast(node, truths(node, sizes), inner))
    elif order == 1:
        result = reduced(node, relax.op.sum, sizes)
    elif order == 2:
        squares = node.emit(relax.op.multiply(sizes, sizes))
        result = node.emit(relax.op.sqrt(reduced(node, relax.op.sum, squares)))
    else:
        powers = node.emit(relax.op.power(sizes, operands.number(order, inner)))
        total = reduced(node, relax.op.sum, powers)
        result = node.emit(relax.op.power(total, operands.number(1 / order, inner)))
    return operands.cast(node, result, dtype)


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys(
        (
            *("sum.default", "sum.dim_IntList", "mean.default", "mean.dim"),
            *("prod.default", "prod.dim_int"),
        ),
        convert_total,
    ),
    **dict.fromkeys(
        (
            *("amax.default", "amin.default", "max.default", "min.default"),
            *("max.dim", "min.dim"),
        ),
        convert_extreme,
    ),
    **dict.fromkeys(("argmax.default", "argmin.default"), convert_place),
    **dict.fromkeys(
        [f"{name}.{kind}" for name in ("any", "all") for kind in ("default", "dim", "dims")],
        convert_truth,
    ),
    **dict.fromkeys(
        [
            f"{name}{mean}.{kind}"
            for name in ("var", "std")
            for mean in ("", "_mean")
            for kind in ("correction", "dim", "default")
            if not (mean and kind == "default")
        ],
        convert_variance,
    ),
    "linalg_vector_norm.default": convert_norm,
}

_DATA = np.array([[1, 2], [3, 0]], np.float32)

FIX = Fix(
    name="torch_reductions",
    operators=tuple(CONVERSIONS),
    fault="reductions of PyTorch programs lose dtype, correction and order; several are missing",
    issue=None,
    parts=(
        FaultPart("amax", partial(differs, "amax.default", _DATA, [1])),
        FaultPart("products", partial(differs, "prod.default", _DATA.astype(np.int32))),
        FaultPart("any", partial(differs, "any.dim", _DATA - 1, 1)),
        FaultPart("deviation", partial(differs, "std.correction", _DATA, [1], correction=1)),
        FaultPart("norms", partial(differs, "linalg_vector_norm.default", _DATA, 0.0)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_activations",
    patch=patch(CONVERSIONS),
)
