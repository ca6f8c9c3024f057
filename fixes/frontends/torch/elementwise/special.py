"""Functions of elements that neither Relax nor the decompositions of PyTorch have."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import elementwise, widely
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/torch/special.py")

Function = Callable[..., PrimExpr]


def _number(like: PrimExpr, value: float) -> PrimExpr:
    return tirx.const(value, tvm_api.dtype_of(like))


def _mathematical(name: str, *elements: PrimExpr) -> PrimExpr:
    """The function ``name`` of C's library, in the dtype of ``elements``."""
    dtype = tvm_api.dtype_of(elements[0])
    return tirx.call_pure_extern(dtype, f"{name}f" if dtype == "float32" else name, *elements)


_STEPS = 10
"""The expansion of digamma is exact to double precision so far above 0."""

_BERNOULLI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""The Bernoulli numbers of even index over the index, which are its coefficients."""


def _digamma(x: PrimExpr) -> PrimExpr:
    """The derivative of the logarithm of the gamma function.

    Below 0 it is reflected, then moved up to where its asymptotic expansion holds. It is not a
    number at integers below 0, and infinite at 0.
    """
    zero, one = _number(x, 0), _number(x, 1)
    below = x < zero
    start = tirx.Select(below, one - x, x)
    inside = start + _number(x, _STEPS)
    inverse = one / (inside * inside)
    series = zero
    for coefficient in reversed(_BERNOULLI):
        series = (series + _number(x, coefficient)) * inverse
    value = tirx.log(inside) - _number(x, 0.5) / inside - series
    for step in range(_STEPS):
        value = value - one / (start + _number(x, step))
    angle = _number(x, math.pi) * (x - tirx.trunc(x))
    reflection = _number(x, math.pi) / tirx.tan(tirx.Select(below, angle, one))
    value = value - tirx.Select(below, reflection, zero)
    whole = tirx.all(below, tvm_api.equal(x, tirx.floor(x)))
    value = tirx.Select(whole, _number(x, math.nan), value)
    return tirx.Select(tvm_api.equal(x, zero), -one / x, value)


def convert_inverse_of_erf(node: Node) -> Expr:
    """The number whose error function is ``self``: Halley's steps from Winitzki's approximation.

    Steps are in double precision, and near 1 of the complement, which has all its digits there.
    """
    data = operands.cast(node, node.argument("self"), "float64")
    result = elementwise(node, _first_inverse, data)
    # Each step is a tensor of its own: within one expression they would double its size.
    for _ in range(3):
        result = elementwise(node, _next_inverse, result, data)
    return operands.cast(node, elementwise(node, _signed_inverse, result, data), node.dtype)


def _size_below_one(y: PrimExpr) -> PrimExpr:
    size = tirx.abs(y)
    return tirx.Select(size < _number(y, 1), size, _number(y, 0.5))


def _first_inverse(y: PrimExpr) -> PrimExpr:
    size, one = _size_below_one(y), _number(y, 1)
    half = tirx.log((one - size) * (one + size)) * _number(y, 0.5)
    first = _number(y, 2 / (math.pi * 0.147)) + half
    root = tirx.sqrt(first * first - half * _number(y, 2 / 0.147))
    return tirx.sqrt(tirx.max(root - first, _number(y, 0)))


def _next_inverse(x: PrimExpr, y: PrimExpr) -> PrimExpr:
    size, one = _size_below_one(y), _number(y, 1)
    near = _mathematical("erf", x) - size
    far = one - size - _mathematical("erfc", x)
    slope = _number(y, 2 / math.sqrt(math.pi)) * tirx.exp(-x * x)
    step = tirx.Select(size < _number(y, 0.5), near, far) / slope
    return x - step / (one + x * step)


def _signed_inverse(x: PrimExpr, y: PrimExpr) -> PrimExpr:
    zero, one, infinity = (_number(y, value) for value in (0, 1, math.inf))
    size = tirx.abs(y)
    ends = tirx.Select(tvm_api.equal(size, one), infinity, _number(y, math.nan))
    value = tirx.Select(size < one, x, ends)
    return tirx.Select(y < zero, -value, value)


_FUNCTIONS: dict[str, Function] = {
    "digamma": _digamma,
    "erfc": partial(_mathematical, "erfc"),
    "lgamma": partial(_mathematical, "lgamma"),
}


def convert_function(node: Node) -> Expr:
    """A function of floats, of which integers become some."""
    data = operands.cast(node, node.argument("self"), node.dtype)
    return widely(node, node.dtype, _FUNCTIONS[node.operator.partition(".")[0]], data)


def convert_pair(node: Node) -> Expr:
    """``self`` with the sign of ``other``, or the next number towards it."""
    name, dtype = node.operator.partition(".")[0], node.dtype
    both = [operands.tensor(node, node.argument(each), dtype) for each in ("self", "other")]
    if name == "copysign":
        return widely(node, dtype, partial(_mathematical, name), *both)
    return elementwise(node, partial(_mathematical, name), *both)


def convert_sign_bit(node: Node) -> Expr:
    """True where the sign is that of negative numbers, of 0 and NaN too."""
    data = node.argument("self")
    dtype = tvm_api.dtype_of(data)
    if dtype == "bool" or dtype.startswith("uint"):
        return node.emit(relax.op.zeros_like(data, "bool"))
    data = operands.cast(node, data, operands.inner_dtype(dtype))
    bits = tvm_api.dtype_of(data).replace("float", "int")

    def negative(element: PrimExpr) -> PrimExpr:
        whole = tirx.reinterpret(bits, element) if "float" in dtype else element
        return whole < tirx.const(0, bits)

    return elementwise(node, negative, data)


def convert_sign(node: Node) -> Expr:
    """-1, 0 or 1; bools stay as they are."""
    data = node.argument("self")
    return data if node.dtype == "bool" else node.emit(relax.op.sign(data))


def convert_shift(node: Node) -> Expr:
    """``self`` with its bits moved; all of them leave where the number of places is too large."""
    dtype = node.dtype
    left, right = (operands.tensor(node, node.argument(each), dtype) for each in ("self", "other"))
    bits = np.iinfo(dtype).bits
    is_left = "left" in node.operator or "lshift" in node.operator
    most = bits - 1 if not is_left and dtype.startswith("int") else bits

    def moved(element: PrimExpr, places: PrimExpr) -> PrimExpr:
        zero = tirx.const(0, dtype)
        outside = tirx.any(places < zero, places >= tirx.const(min(most, bits), dtype))
        inside = tirx.Select(outside, zero, places)
        if is_left:
            return tirx.Select(outside, zero, tirx.shift_left(element, inside))
        last = tirx.shift_right(element, tirx.const(bits - 1, dtype))
        gone = last if dtype.startswith("int") else zero
        return tirx.Select(outside, gone, tirx.shift_right(element, inside))

    return elementwise(node, moved, left, right)


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys([f"{name}.default" for name in _FUNCTIONS], convert_function),
    "erfinv.default": convert_inverse_of_erf,
    **dict.fromkeys(("copysign.Tensor", "copysign.Scalar", "nextafter.default"), convert_pair),
    "signbit.default": convert_sign_bit,
    "sign.default": convert_sign,
    **dict.fromkeys(
        [
            *(f"__{side}shift__.{kind}" for side in "lr" for kind in ("Tensor", "Scalar")),
            *(
                f"bitwise_{side}_shift.{kind}"
                for side in ("left", "right")
                for kind in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")
            ),
        ],
        convert_shift,
    ),
}

_DATA = np.array([0.5, -0.25], np.float32)

FIX = Fix(
    name="torch_special",
    operators=tuple(CONVERSIONS),
    fault="shifts, copysign, erfc, lgamma and their like are not imported from PyTorch programs",
    issue=None,
    parts=(
        FaultPart("shifts", partial(differs, "__lshift__.Scalar", np.array([1, 2]), 3)),
        FaultPart("signs", partial(differs, "copysign.Tensor", _DATA, _DATA)),
        FaultPart("functions", partial(differs, "lgamma.default", _DATA)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_bags",
    patch=patch(CONVERSIONS),
)
