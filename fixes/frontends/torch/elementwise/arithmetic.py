"""Arithmetic of two operands, computed in the dtype that PyTorch promotes them to.

A number of Python, or a tensor without dimensions, gives way to the dtype of a tensor of its kind.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands, sizes
from relaxcheck.fixes.frontends.torch.converting import (
    Convert,
    Node,
    dtype_name,
    patch,
    rebindings,
)
from relaxcheck.fixes.frontends.torch.elements import elementwise, widely
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/torch/arithmetic.py")


def common_dtype(node: Node, *names: str) -> str:
    """The dtype that PyTorch promotes the arguments ``names`` to."""
    import torch

    kinds: dict[type, Any] = {torch.SymInt: 1, torch.SymFloat: 1.0, torch.SymBool: True}
    values = []
    for name in names:
        value = node.written(name)
        value = value.meta["val"] if isinstance(value, torch.fx.Node) else value
        values.append(kinds.get(type(value), value))
    left, right = values
    if isinstance(left, torch.Tensor) or isinstance(right, torch.Tensor):
        return dtype_name(torch.result_type(left, right))
    return node.dtype


def promoted(node: Node, dtype: str, *names: str) -> list[Expr]:
    """The arguments ``names`` as tensors of ``dtype``."""
    tensors = [operands.tensor(node, node.argument(name), dtype) for name in names]
    return sizes.matched(node, names, tensors)


def convert_sum(node: Node) -> Expr:
    """``self + alpha * other``, or the difference; of bools, true where either is."""
    subtracts = node.operator.startswith(("sub", "rsub"))
    names = ("other", "self") if node.operator.startswith("rsub") else ("self", "other")
    dtype = node.dtype
    left, right = promoted(node, dtype, *names)
    alpha = node.argument("alpha")
    if dtype == "bool":
        if alpha:
            return node.emit(relax.op.logical_or(left, right))
        # The shape is still that of both.
        return node.emit(relax.op.logical_or(left, node.emit(relax.op.zeros_like(right))))
    if alpha != 1:
        factor = operands.tensor(node, alpha, dtype)
        if names[0] == "other":
            right = node.emit(relax.op.multiply(right, factor))
        else:
            right = node.emit(relax.op.multiply(factor, right))
    combine = relax.op.subtract if subtracts else relax.op.add
    return node.emit(combine(left, right))


def convert_product(node: Node) -> Expr:
    """``self * other``; of bools, true where both are."""
    left, right = promoted(node, node.dtype, "self", "other")
    multiply = relax.op.logical_and if node.dtype == "bool" else relax.op.multiply
    return node.emit(multiply(left, right))


def convert_quotient(node: Node) -> Expr:
    """The quotient of floats, of which integers become some; or one that is rounded."""
    mode = node.argument("rounding_mode") if node.operator.endswith("_mode") else None
    if node.operator.startswith("floor_divide"):
        mode = "floor"
    dtype = node.dtype
    left, right = promoted(node, dtype, "self", "other")
    if mode is None:
        return node.emit(relax.op.divide(left, right))
    if "int" in dtype:
        divide = tvm_api.floordiv if mode == "floor" else _truncated_quotient
        return elementwise(node, divide, left, right)
    return widely(node, dtype, _floored if mode == "floor" else _truncated, left, right)


def _truncated_quotient(left: PrimExpr, right: PrimExpr) -> PrimExpr:
    return tirx.truncdiv(left, right)


def _truncated(left: PrimExpr, right: PrimExpr) -> PrimExpr:
    return tirx.trunc(left / right)


def _floored(left: PrimExpr, right: PrimExpr) -> PrimExpr:
    """The floor of the exact quotient, where that of the rounded one may be the next integer."""
    dtype = tvm_api.dtype_of(left)
    zero, half, one = (tirx.const(value, dtype) for value in (0, 0.5, 1))
    rest = _truncated_remainder(left, right)
    exact = (left - rest) / right
    # The remainder goes without ``right`` added, which may be infinite.
    exact = exact - tirx.Select(_signs_differ(rest, right), one, zero)
    whole = tirx.floor(exact)
    whole = whole + tirx.Select(exact - whole > half, one, zero)
    return tirx.Select(tvm_api.equal(right, zero), left / right, whole)


def _truncated_remainder(left: PrimExpr, right: PrimExpr) -> PrimExpr:
    """The exact remainder of floats with the sign of ``left``, as C has it: TVM has none."""
    dtype = tvm_api.dtype_of(left)
    return tirx.call_pure_extern(dtype, "fmodf" if dtype == "float32" else "fmod", left, right)


def _remainder(left: PrimExpr, right: PrimExpr) -> PrimExpr:
    """The remainder with the sign of ``right``."""
    rest = _truncated_remainder(left, right)
    return tirx.Select(_signs_differ(rest, right), rest + right, rest)


def _signs_differ(left: PrimExpr, right: PrimExpr) -> PrimExpr:
    """True where one is above 0 and the other below."""
    zero = tirx.const(0, tvm_api.dtype_of(left))
    return tirx.any(tirx.all(left < zero, right > zero), tirx.all(left > zero, right < zero))


def convert_remainder(node: Node) -> Expr:
    """The remainder: ``fmod`` has the sign of the dividend, ``remainder`` that of the divisor."""
    truncates = node.operator.startswith("fmod")
    dtype = node.dtype
    left, right = promoted(node, dtype, "self", "other")
    if "int" in dtype:
        rest = tirx.truncmod if truncates else tvm_api.floormod
        return elementwise(node, lambda x, y: rest(x, y), left, right)
    return widely(node, dtype, _truncated_remainder if truncates else _remainder, left, right)


def convert_power(node: Node) -> Expr:
    """``self`` to the power of ``exponent``."""
    dtype = node.dtype
    left, right = promoted(node, dtype, "self", "exponent")
    if "int" in dtype:
        return _integer_power(node, left, right)
    known = node.argument("exponent")
    if isinstance(known, int | float) and not isinstance(known, bool):
        # In the function's text, where LLVM makes a product of a square.
        return widely(node, dtype, partial(_power_of, float(known)), left)
    return widely(node, dtype, tirx.power, left, right)


def _power_of(exponent: float, base: PrimExpr) -> PrimExpr:
    return tirx.power(base, tirx.const(exponent, tvm_api.dtype_of(base)))


_DOUBLINGS = 6
"""The bits of an exponent that a function of TIR takes; each doubles the size of its expression."""


def _integer_power(node: Node, base: Expr, exponent: Expr) -> Expr:
    """The integer ``base`` to the power of ``exponent``; products wrap, as those of PyTorch do."""
    dtype = tvm_api.dtype_of(base)
    bits = int(np.iinfo(dtype).max).bit_length()
    known = node.argument("exponent")
    if isinstance(known, int) and known >= 0:
        bits = min(bits, max(known.bit_length(), 1))
    square, result = base, None
    for first in range(0, bits, _DOUBLINGS):
        if first:
            square = elementwise(node, _squared_often, square)
        last = min(first + _DOUBLINGS, bits)
        part = elementwise(node, partial(_partial_power, bits=range(first, last)), square, exponent)
        result = part if result is None else node.emit(relax.op.multiply(result, part))
    if not _signed(dtype):
        return result
    return elementwise(node, _or_inverse, result, base, exponent)


def _squared_often(base: PrimExpr) -> PrimExpr:
    for _ in range(_DOUBLINGS):
        base = base * base
    return base


def _partial_power(square: PrimExpr, exponent: PrimExpr, bits: range) -> PrimExpr:
    """The power for ``bits`` of ``exponent`` alone; ``square`` is that for the first of them."""
    dtype = tvm_api.dtype_of(square)
    one, zero = tirx.const(1, dtype), tirx.const(0, dtype)
    result = one
    for bit in bits:
        holds = tirx.bitwise_and(exponent, tirx.const(1 << bit, dtype))
        result = result * tirx.Select(holds > zero, square, one)
        square = square * square
    return result


def _or_inverse(result: PrimExpr, base: PrimExpr, exponent: PrimExpr) -> PrimExpr:
    """``result``, but of negative exponents the inverse rounded to 0, which ±1 alone have."""
    dtype = tvm_api.dtype_of(base)
    one, zero = tirx.const(1, dtype), tirx.const(0, dtype)
    is_odd = tirx.bitwise_and(exponent, one) > zero
    is_unit = tirx.all(base >= tirx.const(-1, dtype), base <= one)
    # 1 / 0 has no value of its own in PyTorch either.
    inverse = tirx.Select(is_unit, tirx.Select(is_odd, base, base * base), zero)
    return tirx.Select(exponent < zero, inverse, result)


def _signed(dtype: str) -> bool:
    return dtype.startswith("int")


def name_of(node: Node) -> str:
    """The name of the function, without overload and underscores."""
    return node.operator.partition(".")[0].strip("_")


def convert_comparison(node: Node) -> Expr:
    """Where the operands compare so, in the dtype that both promote to."""
    dtype = common_dtype(node, "self", "other")
    left, right = promoted(node, dtype, "self", "other")
    if dtype == "bool":
        left, right = (operands.cast(node, side, "int8") for side in (left, right))
    return node.emit(_COMPARISONS[name_of(node)](left, right))


def convert_extreme(node: Node) -> Expr:
    """The larger or the smaller operand, NaN where one is; ``fmax`` and ``fmin`` take the other."""
    name = name_of(node)
    dtype, skips = node.dtype, name.startswith("f")
    wins = _larger if "max" in name else _smaller
    inner = "int8" if dtype == "bool" else operands.inner_dtype(dtype)
    left, right = promoted(node, inner, "self", "other")

    def choose(x: PrimExpr, y: PrimExpr) -> PrimExpr:
        first = wins(x, y)
        if "float" in inner:
            first = tirx.any(first, tirx.isnan(y if skips else x))
        return tirx.Select(first, x, y)

    return operands.cast(node, elementwise(node, choose, left, right), dtype)


_ON_BOOLS: dict[str, Callable[..., Expr]] = {
    "and": relax.op.logical_and,
    "or": relax.op.logical_or,
    "xor": relax.op.logical_xor,
}


def convert_bits(node: Node) -> Expr:
    """The bits of both operands combined, in the dtype that both promote to."""
    left, right = promoted(node, node.dtype, "self", "other")
    combine = _ON_BOOLS if node.dtype == "bool" else _BITS
    return node.emit(combine[name_of(node).removeprefix("bitwise_")](left, right))


def convert_float(node: Node) -> Expr:
    """A function of two floats, of which integers become some."""
    compute = _FLOATS[name_of(node)]
    return widely(node, node.dtype, compute, *promoted(node, node.dtype, "self", "other"))


def _log_of_sum(x: PrimExpr, y: PrimExpr) -> PrimExpr:
    """The logarithm of the sum of exponentials, which does not overflow."""
    largest = tirx.Select(x > y, x, y)
    smallest = tirx.Select(x > y, y, x)
    apart = largest + tirx.log1p(tirx.exp(smallest - largest))
    same = tirx.log1p(tirx.exp(tirx.const(0, tvm_api.dtype_of(x))))
    return tirx.Select(tvm_api.equal(x, y), x + same, apart)


_COMPARISONS: dict[str, Callable[..., Expr]] = {
    "eq": relax.op.equal,
    "ne": relax.op.not_equal,
    "lt": relax.op.less,
    "le": relax.op.less_equal,
    "gt": relax.op.greater,
    "ge": relax.op.greater_equal,
}
_BITS: dict[str, Callable[..., Expr]] = {
    "and": relax.op.bitwise_and,
    "or": relax.op.bitwise_or,
    "xor": relax.op.bitwise_xor,
}
_FLOATS: dict[str, Callable[..., PrimExpr]] = {
    "atan2": tirx.atan2,
    "hypot": tirx.hypot,
    "logaddexp": _log_of_sum,
}


def _larger(x: PrimExpr, y: PrimExpr) -> PrimExpr:
    return x >= y


def _smaller(x: PrimExpr, y: PrimExpr) -> PrimExpr:
    return x <= y


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys(
        [f"{name}.{kind}" for name in ("add", "sub", "rsub") for kind in ("Tensor", "Scalar")]
        + ["add_.Tensor", "sub_.Tensor"],
        convert_sum,
    ),
    **dict.fromkeys(("mul.Tensor", "mul.Scalar", "mul_.Tensor"), convert_product),
    **dict.fromkeys(
        [f"div.{kind}" for kind in ("Tensor", "Scalar", "Tensor_mode", "Scalar_mode")]
        + ["div_.Tensor", "floor_divide.default", "floor_divide.Scalar"],
        convert_quotient,
    ),
    **dict.fromkeys(
        [f"{name}.{kind}" for name in ("fmod", "remainder") for kind in ("Tensor", "Scalar")]
        + ["remainder.Scalar_Tensor"],
        convert_remainder,
    ),
    **dict.fromkeys(("pow.Scalar", "pow.Tensor_Scalar", "pow.Tensor_Tensor"), convert_power),
    **dict.fromkeys(
        [f"{name}.{kind}" for name in _COMPARISONS for kind in ("Tensor", "Scalar")],
        convert_comparison,
    ),
    **dict.fromkeys(
        [f"{name}.default" for name in ("maximum", "minimum", "fmax", "fmin")]
        + ["max.other", "min.other"],
        convert_extreme,
    ),
    **dict.fromkeys(
        [
            f"{prefix}{name}{suffix}.{kind}"
            for name in _BITS
            for kind in ("Tensor", "Scalar")
            for prefix, suffix in (("bitwise_", ""), ("bitwise_", "_"), ("__", "__"))
        ],
        convert_bits,
    ),
    **dict.fromkeys([f"{name}.default" for name in _FLOATS], convert_float),
}

_FLOAT = np.array([1.5, -3], np.float32)
_INTEGER = np.array([5, -7])


FIX = Fix(
    name="torch_arithmetic",
    operators=tuple(CONVERSIONS),
    fault=(
        "arithmetic of PyTorch programs drops alpha, computes in the dtype of one operand, and"
        " loses shapes where TVM cannot prove that sizes are equal"
    ),
    issue=None,
    parts=(
        FaultPart("sizes", sizes.are_lost),
        FaultPart("alpha", partial(differs, "add.Tensor", _FLOAT, _FLOAT, alpha=2)),
        FaultPart("numbers", partial(differs, "mul.Tensor", _INTEGER, 1.5)),
        FaultPart("quotients", partial(differs, "div.Tensor", _INTEGER, 2)),
        FaultPart("comparisons", partial(differs, "lt.Scalar", _INTEGER, 5.5)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_indices",
    patch=patch(CONVERSIONS),
)
