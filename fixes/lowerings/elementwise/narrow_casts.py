"""Casts from and to floating-point formats of 8 and 16 bits.

TVM computes these by way of float32. An integer, or a float64, is rounded to it first, and then
again, which errs next to a tie. Of bfloat16 it adds the rounding to the bits of NaN as well, so
that some become infinite or 0. Of 8 bits it moves exponents alone, without regard to zeros,
subnormal numbers, NaN and overflows: the 0 of float8_e4m3fn becomes 2**-7.

Here a number becomes a float32 that is rounded to odd: an inexact one is the neighbour whose last
bit is 1. Another rounding, to at most 22 bits, is then correct (S. Boldo, G. Melquiond, "Emulation
of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/narrow_casts.py")

OPERATOR = "relax.astype"

_OPAQUE = 8
"""The pattern of functions that are not fused."""


@dataclass(frozen=True)
class _Narrow:
    """A format of 8 bits: bits of the mantissa, exponent bias, codes from which on numbers end.

    ``overflow`` is the code of what is too large, ``nan`` that of NaN; both without the sign. In a
    format without a negative zero its code, 0x80, is the only one of NaN.
    """

    mantissa: int
    bias: int
    overflow: int
    nan: int

    @property
    def has_negative_zero(self) -> bool:
        return self.nan < 0x80


_EIGHT_BITS = {
    "float8_e4m3fn": _Narrow(3, 7, 0x7F, 0x7F),
    "float8_e5m2": _Narrow(2, 15, 0x7C, 0x7E),
    "float8_e4m3fnuz": _Narrow(3, 8, 0x80, 0x80),
    "float8_e5m2fnuz": _Narrow(2, 16, 0x80, 0x80),
}


def _rounded_once(original: Legalization) -> Legalization:
    """``original``, except for casts from and to the formats that it gets wrong."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, to = call.args[0], str(call.attrs.dtype)
        if not tvm_api.has_shape(data):
            return original(builder, call)
        dtype = tvm_api.dtype_of(data)
        narrow = to == "bfloat16" and dtype not in ("bool", "int8", "uint8", to)
        if dtype == to or not (narrow or dtype in _EIGHT_BITS or to in _EIGHT_BITS):
            return original(builder, call)

        def compute(values: Tensor) -> Tensor:
            # A tensor for each step: TVM takes seconds to simplify them all in one expression.
            for step in _steps(dtype, to):
                values = _stage(values, step)
            return values

        # TVM holds the intermediate results of 8 bits of a fused function in 16.
        alone = {"op_pattern": _OPAQUE} if {dtype, to} & set(_EIGHT_BITS) else {}
        return builder.call_te(compute, data, primfunc_name_hint="cast", primfunc_attrs=alone)

    return lower


def _stage(values: Tensor, step: Callable[[Any], Any]) -> Tensor:
    def element(*at: PrimExpr) -> PrimExpr:
        return step(values(*at))

    return te.compute(values.shape, element, name="cast")


def _steps(dtype: str, to: str) -> list[Callable[[Any], Any]]:
    """The functions of an element whose composition casts ``dtype`` to ``to``."""
    steps: list[Callable[[Any], Any]] = []
    if dtype in _EIGHT_BITS:
        steps.append(partial(_widened, kind=_EIGHT_BITS[dtype]))
    elif dtype in ("int64", "uint64"):
        steps += [partial(_forty_bits, dtype=dtype), _odd]
    elif dtype in ("float64", "int32", "uint32"):
        steps.append(_odd)
    if to in _EIGHT_BITS:
        steps.append(partial(_eight_bits, to=to))
    elif to == "bfloat16":
        steps.append(_sixteen_bits)
    elif to != "float32":
        steps.append(lambda value: value.astype(to))
    return steps


def _bits(value: Any, dtype: str) -> Any:
    return tirx.reinterpret(dtype, value)


def _uint(value: int) -> Any:
    return tirx.const(value, "uint32")


def _odd(value: Any) -> Any:
    """``value``, which float64 holds exactly, in float32 rounded to odd."""
    wide = value.astype("float64")
    near = wide.astype("float32")
    back, bits = near.astype("float64"), _bits(near, "uint32")
    # The numbers of one sign are in the order of their bits. NaN is neither larger nor smaller.
    even = tvm_api.equal(bits & _uint(1), _uint(0))
    outward = tirx.all(even, tirx.abs(wide) > tirx.abs(back))
    inward = tirx.all(even, tirx.abs(wide) < tirx.abs(back))
    odd = tirx.Select(outward, bits + _uint(1), tirx.Select(inward, bits - _uint(1), bits))
    return _bits(odd, "float32")


def _forty_bits(value: Any, dtype: str) -> Any:
    """``value`` in float64, its upper 40 bits rounded to odd where it has more."""
    low = tirx.const(2**24 - 1, dtype)
    zero, unit = tirx.const(0, dtype), tirx.const(2**24, dtype)
    far = value >= tirx.const(2**40, dtype)
    if dtype == "int64":
        far = tirx.any(far, value < tirx.const(-(2**40), dtype))
    rest = value & low
    top = value - rest
    sticky = tirx.Select(tvm_api.equal(rest, zero), top, top | unit)
    return tirx.Select(far, sticky, value).astype("float64")


def _sixteen_bits(value: Any) -> Any:
    """A number that float32 holds in bfloat16, to nearest, ties to even."""
    value = value.astype("float32")
    bits = _bits(value, "uint32")
    high = bits >> _uint(16)
    rounded = (bits + _uint(0x7FFF) + (high & _uint(1))) >> _uint(16)
    code = tirx.Select(_is_nan(bits), high | _uint(0x40), rounded)
    return _bits(code.astype("uint16"), "bfloat16")


def _is_nan(bits: Any) -> Any:
    """True for the bits of NaN: TVM simplifies a comparison of a value with itself."""
    return (bits & _uint(0x7FFFFFFF)) > _uint(0x7F800000)


def _eight_bits(value: Any, to: str) -> Any:
    """A number that float32 holds in a format of 8 bits, to nearest, ties to even."""
    kind, value = _EIGHT_BITS[to], value.astype("float32")
    bits = _bits(value, "uint32")
    size = bits & _uint(0x7FFFFFFF)
    dropped = 23 - kind.mantissa
    tie = _uint(2 ** (dropped - 1) - 1) + ((size >> _uint(dropped)) & _uint(1))
    usual = ((size + tie) >> _uint(dropped)) - _uint((127 - kind.bias) << kind.mantissa)
    # Added to 2**23 steps, a number is rounded to steps.
    anchor = 2.0 ** (23 + 1 - kind.bias - kind.mantissa)
    steps = _bits(_bits(size, "float32") + tirx.const(anchor, "float32"), "uint32")
    subnormal = steps - _bits(tirx.const(anchor, "float32"), "uint32")
    small = size < _uint((128 - kind.bias) << 23)
    code = tirx.Select(small, subnormal, usual)
    huge = tirx.any(
        size >= _uint(0x7F800000), tirx.all(tvm_api.negated(small), usual >= _uint(kind.overflow))
    )
    code = tirx.Select(huge, _uint(kind.overflow), code)
    code = tirx.Select(_is_nan(bits), _uint(kind.nan), code)
    sign = (bits >> _uint(24)) & _uint(0x80)
    if not kind.has_negative_zero:
        sign = tirx.Select(tvm_api.equal(code, _uint(0)), _uint(0), sign)
    return _bits((code | sign).astype("uint8"), to)


def _widened(value: Any, kind: _Narrow) -> Any:
    """A number of 8 bits in float32: exact."""
    code = _bits(value, "uint8").astype("uint32")
    size = code & _uint(0x7F)
    usual = (size << _uint(23 - kind.mantissa)) + _uint((127 - kind.bias) << 23)
    step = 2.0 ** (1 - kind.bias - kind.mantissa)
    subnormal = _bits(size.astype("float32") * tirx.const(step, "float32"), "uint32")
    bits = tirx.Select(size < _uint(2**kind.mantissa), subnormal, usual)
    sign = (code & _uint(0x80)) << _uint(24)
    nan = _uint(0x7FC00000)
    if not kind.has_negative_zero:
        is_nan = tvm_api.equal(code, _uint(kind.nan))
        return _bits(tirx.Select(is_nan, nan, bits | sign), "float32")
    bits = tirx.Select(tvm_api.equal(size, _uint(kind.overflow)), _uint(0x7F800000), bits)
    bits = tirx.Select(size > _uint(min(kind.overflow, kind.nan - 1)), nan, bits)
    return _bits(bits | sign, "float32")


def _casts(values: Sequence[float], dtype: str, to: str, wanted: Sequence[float]) -> bool:
    """True if the cast of ``values`` is exactly ``wanted``, NaN included."""
    module = probes.program(lambda x: relax.op.astype(x, to), (len(values),), dtypes=(dtype,))
    try:
        actual = probes.run(module, np.array(values, "float64").astype(dtype))
    except Exception:
        return False
    return np.array_equal(actual.astype("float64"), np.array(wanted), equal_nan=True)


def rounds_float64() -> bool:
    """True if a float64 just above halfway is rounded up to bfloat16."""
    return _casts([1 + 2.0**-8 + 2.0**-40], "float64", "bfloat16", [1 + 2.0**-7])


def rounds_integers() -> bool:
    """True if an integer just above halfway is rounded up to bfloat16."""
    return _casts([2.0**24 + 2**16 + 1], "int32", "bfloat16", [2.0**24 + 2**17])


def keeps_nan() -> bool:
    """True if no NaN of float32 becomes an infinity in bfloat16."""
    module = probes.program(lambda x: relax.op.astype(x, "bfloat16"), (1,), dtypes=("float32",))
    actual = probes.run(module, np.array([0x7F800001], "uint32").view("float32"))
    return bool(np.isnan(actual.astype("float64")).all())


def widens_eight_bits() -> bool:
    """True if 0, the smallest number and NaN keep their values."""
    return all(
        _casts([0, step, np.nan], name, "float32", [0, step, np.nan])
        for name, step in (("float8_e4m3fn", 2.0**-9), ("float8_e5m2", 2.0**-16))
    )


def keeps_zeros_of_one_sign() -> bool:
    """True if the formats without a negative zero have 0, 1, the smallest number and NaN."""
    return all(
        _casts([0, -0.0, 1, step, np.nan], "float32", name, [0, 0, 1, step, np.nan])
        and _casts([0, 1, step, np.nan], name, "float32", [0, 1, step, np.nan])
        for name, step in (("float8_e4m3fnuz", 2.0**-10), ("float8_e5m2fnuz", 2.0**-17))
    )


def narrows_to_eight_bits() -> bool:
    """True if a number below the normal ones, one just above halfway and NaN are rounded."""
    values, rounded = [2.0**-7, 1.125 + 2.0**-30, np.nan], [2.0**-7, 1.25, np.nan]
    return _casts([*values], "float64", "float8_e5m2", rounded) and _casts(
        [2.0**-7, 1.0625 + 2.0**-30, np.nan], "float64", "float8_e4m3fn", [2.0**-7, 1.125, np.nan]
    )


FIX = Fix(
    name="narrow_casts",
    operators=(OPERATOR,),
    fault="casts to bfloat16 round float64 and integers twice and make NaN infinite; casts from and"
    " to floating-point formats of 8 bits err for zeros, subnormal numbers, NaN and overflows",
    issue=None,
    parts=(
        FaultPart("float64 to bfloat16", lambda: not rounds_float64()),
        FaultPart("integers to bfloat16", lambda: not rounds_integers()),
        FaultPart("NaN to bfloat16", lambda: not keeps_nan()),
        FaultPart("from 8 bits", lambda: not widens_eight_bits()),
        FaultPart("to 8 bits", lambda: not narrows_to_eight_bits()),
        FaultPart("8 bits of one zero", lambda: not keeps_zeros_of_one_sign()),
    ),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _rounded_once),),
    after="unsigned_sign",
    patch=(Wrapping(OPERATOR, _rounded_once),),
)
