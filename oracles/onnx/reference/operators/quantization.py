"""Quantized numbers: to and from them, and products of them.

A quotient by the scale may be off by a few roundings: the element is unconstrained where these
decide which integer is the nearest.
"""

from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.proto import dtype_of
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx.reference.call import (
    Call,
    axis_of,
    constant,
    operator,
    relax,
)
from relaxcheck.oracles.onnx.reference.operators.casting import converted
from relaxcheck.oracles.onnx.reference.operators.convolution import convolution
from relaxcheck.oracles.onnx.reference.values import is_float, limits, moved, whole
from relaxcheck.oracles.reference.bounds import computed, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, unknown

_ROUNDINGS = 2
"""Of the quotient by a scale: it may be a product with the rounded reciprocal."""

_MORE_ROUNDINGS = 8
"""Of a sum of products by three scales, which may be multiplied in any order."""


def _spread(parameter: Estimate, data: Estimate, call: Call) -> Estimate:
    """A scale or zero point for each element of ``data``: of all, along an axis, or in blocks."""
    shape, block = data.value.shape, call.attribute("block_size") or 0
    if parameter.value.size == 1 and not block:
        return moved(parameter, lambda array: array.reshape(()))
    axis = axis_of(call.attribute("axis") if "axis" in call.schema.attributes else 1, len(shape))
    if block:
        return moved(
            parameter,
            lambda array: np.take(np.repeat(array, block, axis), range(shape[axis]), axis),
        )
    wanted = [1] * len(shape)
    wanted[axis] = -1
    return moved(parameter, lambda array: array.reshape(wanted))


@operator("QuantizeLinear")
def _quantize_linear(call: Call) -> Estimate:
    x, scale, zero = call[0], call[1], call.optional(2)
    dtype = "uint8" if zero is None else zero.dtype
    if call.attribute("output_dtype"):
        dtype = dtype_of(call.attribute("output_dtype"))
    scale = _spread(scale, x, call)
    zero = whole(0, dtype) if zero is None else _spread(zero, x, call)
    named = [each for each in (x.dtype, scale.dtype) if each in FORMATS]
    if call.attribute("precision"):
        named.append(dtype_of(call.attribute("precision")))
    if scale.dtype not in FORMATS or not {*named} <= {*FORMATS}:
        raise ValueError(f"a quotient in {', '.join({scale.dtype, *named})}")
    unit = max(FORMATS[name].unit for name in named)
    # An element that a format of fewer digits rounds has no exact quotient.
    sure = x.dtype not in FORMATS or unit <= FORMATS[x.dtype].unit
    if is_float(dtype):
        saturate = call.attribute("saturate") in (None, 1)
        return converted(_quotient(x, scale, unit, sure=sure), dtype, saturate=saturate)
    return quantized(x, scale, zero, dtype, _ROUNDINGS * unit, sure=sure)


def _quotient(x: Estimate, scale: Estimate, unit: float, *, sure: bool) -> Estimate:
    open_ = unknown(x, scale) | (scale.value == 0)
    value = np.where(open_, 0, x.value) / np.where(open_, 1, scale.value)
    size = np.abs(value).astype(np.float64)
    off = x.error / np.abs(np.where(open_, 1, scale.value)) + _ROUNDINGS * unit * size
    exact = _divides(x, scale, value) & np.bool_(sure)
    error = np.where(exact, 0.0, off).astype(np.float64)
    return unconstrain(Estimate(value, np.where(open_, 0, error), "float64"), open_)


def _divides(x: Estimate, scale: Estimate, value: Array) -> Array:
    """Where the quotient is certain, as the scale is a power of two or it is a small integer."""
    fraction, _ = np.frexp(scale.value)
    small = (value == np.rint(value)) & (np.abs(value) < 2.0**8)
    power = np.abs(fraction) == 0.5
    return np.asarray((x.error == 0) & (scale.error == 0) & (power | small))


def quantized(
    x: Estimate,
    scale: Estimate,
    zero: Estimate,
    dtype: str,
    relative: float,
    *,
    sure: bool = True,
) -> Estimate:
    """``x / scale`` rounded to the nearest integer, ties to even, plus ``zero``, saturated.

    The quotient is off by ``relative`` of itself, unless it is ``sure`` where nothing rounds.
    """
    open_ = unknown(x, scale, zero) & ~np.isinf(x.value)
    open_ = open_ | (scale.value - scale.error <= 0) | (np.isinf(scale.value))
    divisor = np.where(open_, 1, scale.value)
    value = np.where(open_, 0, x.value) / divisor
    # Beyond every integer's range, infinities too.
    value = np.clip(value, -(2.0**60), 2.0**60)
    size = np.abs(value).astype(np.float64)
    off = np.where(open_, 0, x.error) / divisor + size * (relative + scale.error / divisor)
    off = np.where(_divides(x, scale, value) & np.bool_(sure), 0, off)
    low, high = limits(dtype)

    def nearest(each: Array) -> Array:
        return np.asarray(np.clip(np.rint(each) + zero.value, low, high))

    result = nearest(value)
    open_ = open_ | (nearest(value - off) != result) | (nearest(value + off) != result)
    integers = np.where(open_, 0, result).astype(np.int64)
    return unconstrain(Estimate(integers, np.zeros(integers.shape), dtype), open_)


@operator("DequantizeLinear")
def _dequantize_linear(call: Call) -> Estimate:
    x, scale, zero = call[0], call[1], call.optional(2)
    dtype = scale.dtype
    if call.attribute("output_dtype"):
        dtype = dtype_of(call.attribute("output_dtype"))
    scale = _spread(scale, x, call)
    if dtype not in FORMATS or scale.dtype not in FORMATS:
        raise Unsupported(f"reference: DequantizeLinear: scales of {scale.dtype} to {dtype}")
    zero = None if zero is None else _spread(zero, x, call)
    shift: Any = 0 if zero is None else zero.value
    operands = (x, scale) if zero is None else (x, scale, zero)
    open_ = unknown(*operands)
    apart = np.where(open_, 0, x.value - shift).astype(np.longdouble)
    value = apart * np.where(open_, 0, scale.value)
    size = np.abs(value).astype(np.float64)
    unit = max(FORMATS[dtype].unit, FORMATS[scale.dtype].unit)
    # The difference may be rounded to the dtype, if that does not hold it.
    units = 1 + (np.abs(apart) * unit > 0.5) * 2.0
    moved_by = np.abs(apart).astype(np.float64) * np.where(open_, 0, scale.error)
    moved_by = moved_by + units * unit * size + x.error * np.where(open_, 0, np.abs(scale.value))
    wide = np.abs(apart) > FORMATS[dtype].largest
    return computed(dtype, value, np.where(open_, 0, moved_by).astype(np.float64), 1,
                    unconstrained=open_ | wide)  # fmt: skip


@operator("DynamicQuantizeLinear")
def _dynamic_quantize_linear(call: Call) -> tuple[Estimate, ...]:
    """To uint8, whose 255 steps span the elements and 0.

    Of zeros alone nothing is defined, nor of elements that are not finite: implementations differ.
    """
    x = call[0]
    if not x.value.size or x.error.any():
        raise ValueError("of no elements, or of inexact ones")
    if not np.isfinite(x.value).all():
        return _undefined(x, constant(0, x))
    zero = constant(0, x)
    every = tuple(range(x.value.ndim))
    high = relax("maximum", zero, relax("max", x, axis=every))
    low = relax("minimum", zero, relax("min", x, axis=every))
    scale = relax("divide", relax("subtract", high, low), constant(255, x))
    if scale.value == 0:
        return _undefined(x, scale)
    unit = FORMATS[x.dtype].unit
    place = quantized(relax("negative", low), scale, whole(0), "uint8", 2 * unit)
    return quantized(x, scale, place, "uint8", 2 * unit), scale, place


def _undefined(x: Estimate, scale: Estimate) -> tuple[Estimate, ...]:
    open_ = np.ones((), np.bool_)
    return (
        unconstrain(whole(np.zeros(x.value.shape), "uint8"), open_),
        unconstrain(scale, open_),
        unconstrain(whole(0, "uint8"), open_),
    )


def _real(call: Call, at: int) -> tuple[Estimate, Estimate, Estimate]:
    return call[at], call[at + 1], call[at + 2]


@operator("QLinearMatMul")
def _q_linear_matmul(call: Call) -> Estimate:
    a, scale_a, zero_a = _real(call, 0)
    b, scale_b, zero_b = _real(call, 3)
    scale_y, zero_y = call[6], call[7]
    if any(is_float(each.dtype) for each in (a, b, zero_y)):
        raise ValueError("of floats of 8 bits")
    # A vector holds one number for each row of the first, and for each column of the second.
    scale_a, zero_a = (_column(each, a) for each in (scale_a, zero_a))
    total = np.matmul(a.value - zero_a.value, b.value - zero_b.value)
    return _requantized(total, (a, b, zero_a, zero_b), scale_a, scale_b, scale_y, zero_y)


def _column(parameter: Estimate, data: Estimate) -> Estimate:
    if parameter.value.ndim == 1 and parameter.value.size > 1 and data.value.ndim > 1:
        return moved(parameter, lambda array: array[:, None])
    return parameter


def _requantized(
    total: Array,
    operands: tuple[Estimate, ...],
    scale_a: Estimate,
    scale_b: Estimate,
    scale_y: Estimate,
    zero_y: Estimate,
) -> Estimate:
    """Sums of products as quantized numbers again."""
    if any(each.error.any() for each in (*operands, scale_a, scale_b, scale_y, zero_y)):
        raise ValueError("operands that are not certain")
    if np.abs(total).max(initial=0) >= 2**31:
        raise ValueError("a sum beyond 32 bits")
    x = Estimate(total.astype(np.longdouble), np.zeros(total.shape), "float64")
    factor = scale_y.value / (scale_a.value * scale_b.value)
    by = Estimate(np.asarray(factor), np.zeros(np.shape(factor)), "float64")
    unit = max(FORMATS[each.dtype].unit for each in (scale_a, scale_b, scale_y))
    # A power of two may only be so after a rounding: nothing is exact but 0.
    result = quantized(x, by, zero_y, zero_y.dtype, _MORE_ROUNDINGS * unit)
    near = np.abs(np.abs(x.value / factor) % 1 - 0.5)
    tie = near <= _MORE_ROUNDINGS * unit * np.abs(x.value / factor)
    return unconstrain(result, tie)


@operator("QLinearConv")
def _q_linear_conv(call: Call) -> Estimate:
    x, scale_x, zero_x = _real(call, 0)
    w, scale_w, zero_w = _real(call, 3)
    scale_y, zero_y, bias = call[6], call[7], call.optional(8)
    rank = x.value.ndim - 2

    def by_channel(each: Array) -> Array:
        return each.reshape(-1, *[1] * (rank + 1)) if each.size > 1 else each.reshape(())

    data = whole(x.value - zero_x.value.reshape(()))
    kernel = whole(w.value - by_channel(zero_w.value))
    total = convolution(call, data, kernel).value
    if bias is not None:
        total = total + bias.value.reshape(-1, *[1] * rank)
    scale_w = moved(scale_w, lambda each: each.reshape(-1, *[1] * rank) if each.size > 1 else each)
    return _requantized(total, (x, w, zero_x, zero_w), scale_x, scale_w, scale_y, zero_y)


def _shifted(x: Estimate, zero: Estimate | None) -> Estimate:
    if zero is None:
        return Estimate(x.value, x.error, "int32")
    return unconstrain(whole(x.value - zero.value, "int32"), unknown(x, zero))


@operator("MatMulInteger")
def _matmul_integer(call: Call) -> Estimate:
    a, b, zero_a, zero_b = call[0], call[1], call.optional(2), call.optional(3)
    if zero_a is not None:
        zero_a = _column(zero_a, a)
    return relax("matmul", _shifted(a, zero_a), _shifted(b, zero_b), out_dtype="int32")


@operator("ConvInteger")
def _conv_integer(call: Call) -> Estimate:
    x, w, zero_x, zero_w = call[0], call[1], call.optional(2), call.optional(3)
    if zero_x is not None:
        zero_x = moved(zero_x, lambda each: each.reshape(()))
    if zero_w is not None and zero_w.value.ndim == 1:
        zero_w = moved(zero_w, lambda each: each.reshape(-1, *[1] * (w.value.ndim - 1)))
    return convolution(call, _shifted(x, zero_x), _shifted(w, zero_w))
