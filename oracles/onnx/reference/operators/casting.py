"""Casts between dtypes.

Source: the schema of ``Cast`` with its tables for 8 bits. A number out of an integer's range, or
NaN, has no defined integer: the element is unconstrained. Integers wrap around.
"""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.generators.onnx.proto import dtype_of
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx.reference.call import Call, operator
from relaxcheck.oracles.onnx.reference.values import NARROWEST, is_float, limits, stored
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.bounds import nearest, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, Format, unknown

_NARROW = {
    "float8_e4m3fn": FORMATS["float8_e4m3fn"],
    "float8_e5m2": FORMATS["float8_e5m2"],
    "float8_e4m3fnuz": Format(4, 2.0**-10, 2.0**-10, 240.0),
    "float8_e5m2fnuz": Format(3, 2.0**-17, 2.0**-17, 57344.0),
    "float4_e2m1fn": Format(2, 0.5, 0.5, 6.0),
}
"""Formats that a cast saturates to, with those of ONNX that ``FORMATS`` lacks.

Source: ONNX's pages "Float stored in 8 bits" and "4 bit types".
"""

_POWERS = "float8_e8m0fnu"
"""The format that holds nothing but powers of two."""

_LEAST_POWER, _LARGEST_POWER = -127, 127


@operator("Cast")
def _cast(call: Call) -> Estimate:
    mode = call.attribute("round_mode") or "up"
    saturates = call.attribute("saturate")
    dtype = dtype_of(call.attribute("to"))
    return converted(call[0], dtype, saturate=saturates in (None, 1), mode=mode)


@operator("CastLike")
def _cast_like(call: Call) -> Estimate:
    mode = call.attribute("round_mode") or "up"
    saturates = call.attribute("saturate")
    return converted(call[0], call[1].dtype, saturate=saturates in (None, 1), mode=mode)


def converted(x: Estimate, dtype: str, *, saturate: bool = True, mode: str = "up") -> Estimate:
    """``x`` cast to ``dtype``; ``saturate`` and ``mode`` as the attributes of ``Cast``."""
    if dtype in ("string", "complex64", "complex128"):
        raise Unsupported(f"reference: a cast to {dtype}")
    if dtype == x.dtype:
        return x
    if dtype == "bool":
        return _truth(x)
    if not is_float(dtype):
        return _truncated(x, dtype) if is_float(x.dtype) else bounds.wrapped(x.value, dtype, x)
    if not is_float(x.dtype):
        x = _number(x)
    if dtype == _POWERS:
        return _power(x, saturate, mode)
    if dtype in _NARROW:
        return _narrowed(x, dtype, saturate)
    return bounds.cast(replace(x, dtype="float64") if x.dtype in NARROWEST else x, dtype)


def _number(x: Estimate) -> Estimate:
    """An integer as a number: of more digits than any format, and rounded with it."""
    value = np.where(unknown(x), 0, x.value).astype(np.longdouble)
    return Estimate(value, np.where(np.isinf(x.error), np.inf, 0.0), "integer")


def _truth(x: Estimate) -> Estimate:
    value = (x.value != 0).astype(np.int64)
    open_ = np.isinf(x.error) | ((x.error > 0) & (np.abs(x.value) <= x.error))
    return unconstrain(Estimate(value, np.zeros(value.shape), "bool"), open_)


def _truncated(x: Estimate, dtype: str) -> Estimate:
    low, high = limits(dtype)
    open_ = unknown(x)
    value, error = np.where(open_, 0, x.value), np.where(open_, 0, x.error)
    cut = np.trunc(value)
    open_ = open_ | (np.trunc(value - error) != cut) | (np.trunc(value + error) != cut)
    # The longest type holds every int64.
    open_ = open_ | (cut < np.longdouble(low)) | (cut > np.longdouble(high))
    result = np.where(open_, 0, cut).astype(np.int64)
    return unconstrain(Estimate(result, np.zeros(result.shape), dtype), open_)


def _narrowed(x: Estimate, dtype: str, saturate: bool) -> Estimate:
    form = _NARROW[dtype]
    held = dtype == "float4_e2m1fn" or saturate
    open_ = np.isinf(x.error)
    if dtype == "float4_e2m1fn":
        open_ = open_ | np.isnan(x.value)
    beyond = np.inf if dtype == "float8_e5m2" else np.nan

    def near(value: Array) -> Array:
        finite = np.where(np.isfinite(value), value, 0)
        rounded = np.where(np.isfinite(value), nearest(finite, form), value)
        over = np.abs(rounded) > form.largest
        top = form.largest if held else beyond
        return np.where(over, np.copysign(np.longdouble(top), rounded), rounded)

    value = near(x.value)
    sides = [near(x.value + side * np.where(open_, 0, x.error)) for side in (-1, 1)]
    error = np.maximum(*(np.abs(side - value) for side in sides))
    # Equal infinities have no distance, and NaN is certain unless a side is none.
    certain = (x.error == 0) | ((sides[0] == value) & (sides[1] == value))
    error = np.where(certain, 0.0, error).astype(np.float64)
    open_ = open_ | np.isnan(error)
    return unconstrain(Estimate(value, np.where(open_, 0, error), dtype), open_)


def _power(x: Estimate, saturate: bool, mode: str) -> Estimate:
    """A power of two, rounded as ``mode`` says. The schema leaves 0 and negative numbers open."""
    open_ = np.isinf(x.error) | (x.error > 0) | (x.value <= 0)
    finite = np.isfinite(x.value) & ~open_
    fraction, exponent = np.frexp(np.where(finite, x.value, 1))
    low = exponent - 1
    if mode == "up":
        place = low + (fraction > 0.5)
    else:
        place = low if mode == "down" else low + (fraction >= 0.75)
    over = (place > _LARGEST_POWER) | np.isposinf(x.value)
    under = place < _LEAST_POWER
    value = np.ldexp(np.longdouble(1), np.clip(place, _LEAST_POWER, _LARGEST_POWER))
    value = np.where(over, np.ldexp(np.longdouble(1), _LARGEST_POWER), value)
    if not saturate:
        value = np.where(over, np.longdouble(np.nan), value)
        open_ = open_ | under
    value = np.where(np.isnan(x.value), np.longdouble(np.nan), value)
    return unconstrain(Estimate(value, np.zeros(value.shape), _POWERS), open_)


@operator("BitCast")
def _bit_cast(call: Call) -> Estimate:
    x, dtype = call[0], dtype_of(call.attribute("to"))
    if x.error.any():
        raise ValueError("its operand is not certain")
    source = x.value.astype(np.float64) if is_float(x.dtype) else x.value
    narrow = source.astype(numpy_dtype(x.dtype))
    if numpy_dtype(x.dtype).itemsize != numpy_dtype(dtype).itemsize:
        raise ValueError(f"{x.dtype} and {dtype} have not the same width")
    if {x.dtype, dtype} & {"int4", "uint4", "float4_e2m1fn", "int2", "uint2"}:
        raise ValueError(f"from {x.dtype} to {dtype}")
    # The payload of NaN is not kept here.
    open_ = np.isnan(x.value) if is_float(x.dtype) else np.zeros(x.value.shape, np.bool_)
    return unconstrain(stored(narrow.view(numpy_dtype(dtype)), dtype), open_)
