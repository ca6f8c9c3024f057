"""Numbers of float8_e8m0fnu: powers of 2 from 2**-127 to 2**127, and NaN.

Source: OCP Microscaling Formats (MX) Specification 1.0, 5.4.1; the schema of ONNX's Cast.
"""

from typing import Any

from tvm import te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.casting.formats import EXPONENTS
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/exponents.py")

_MODES = ("up", "down", "nearest")
_NAN = 0xFF
_MOST = 0xFE


def _uint(value: int) -> Any:
    return tirx.const(value, "uint32")


def from_exponents(node: Node, value: Expr) -> Expr:
    """``value`` in float32: exact."""

    def widened(code: Any) -> Any:
        code = tirx.reinterpret("uint8", code).astype("uint32")
        bits = tirx.Select(tvm_api.equal(code, _uint(0)), _uint(0x400000), code << _uint(23))
        is_nan = tvm_api.equal(code, _uint(_NAN))
        return tirx.reinterpret("float32", tirx.Select(is_nan, _uint(0x7FC00000), bits))

    return _elementwise(node, value, widened)


def to_exponents(node: Node, value: Expr, mode: str, saturate: bool) -> Expr:
    """The powers of 2 next to ``value``, which is float32.

    Raises:
        ValueError: there is no such mode.
    """
    if mode not in _MODES:
        raise invalid(node.operator, f"it must be one of {', '.join(_MODES)}", round_mode=mode)

    def narrowed(number: Any) -> Any:
        bits = tirx.reinterpret("uint32", number)
        exponent, mantissa = (bits >> _uint(23)) & _uint(0xFF), bits & _uint(0x7FFFFF)
        is_nan = tirx.all(tvm_api.equal(exponent, _uint(0xFF)), mantissa > _uint(0))
        # 2**-127 is half the least normal number of float32.
        is_subnormal = tvm_api.equal(exponent, _uint(0))
        lowest = tirx.Select(is_subnormal, _uint(0x400000), _uint(0))
        past = tirx.Select(is_subnormal, (mantissa - lowest) << _uint(1), mantissa)
        least = {"up": 1, "nearest": 0x400000, "down": 0x800000}[mode]
        code = exponent + tirx.Select(past >= _uint(least), _uint(1), _uint(0))
        too_large, too_small = (_MOST, 0) if saturate else (_NAN, _NAN)
        code = tirx.Select(code > _uint(_MOST), _uint(too_large), code)
        is_below = tirx.all(is_subnormal, mantissa < lowest)
        code = tirx.Select(is_below, _uint(too_small), code)
        code = tirx.Select(is_nan, _uint(_NAN), code)
        return tirx.reinterpret(EXPONENTS, code.astype("uint8"))

    return _elementwise(node, value, narrowed)


def _elementwise(node: Node, value: Expr, function: Any) -> Expr:
    def compute(data: Tensor) -> Tensor:
        def element(*at: PrimExpr) -> PrimExpr:
            return function(data(*at))

        return te.compute(data.shape, element, name="cast")

    return node.emit(node.builder.call_te(compute, value, primfunc_name_hint="cast"))
