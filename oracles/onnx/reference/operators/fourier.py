"""Discrete Fourier transforms, as sums: fast ones round less."""

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import Call, axis_of, integer, operator, relax
from relaxcheck.oracles.onnx.reference.values import moved
from relaxcheck.oracles.reference.bounds import computed
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, ordinary, unknown

_ROUNDINGS = 16
"""Of a term, besides those of the sum: the factor, and its product."""


def _transformed(x: Estimate, axis: int, length: int, inverse: bool, kept: int) -> Estimate:
    """The first ``kept`` of ``length`` frequencies along ``axis``, as real and imaginary parts."""
    value, off = _complex(ordinary(x))
    wild: Array = np.asarray(unknown(x).any(-1))
    value, off, wild = (_fitted(each, axis, length) for each in (value, off, wild * 1.0))
    turns = np.outer(np.arange(kept), np.arange(length)) % max(length, 1)
    angle = 2 * np.longdouble(np.pi) * turns / max(length, 1) * (1 if inverse else -1)
    factors = np.cos(angle) + 1j * np.sin(angle)
    scale = np.longdouble(length) if inverse else np.longdouble(1)

    def spread(matrix: Array, array: Array) -> Array:
        return np.moveaxis(np.tensordot(matrix, np.moveaxis(array, axis, 0), (1, 0)), 0, axis)

    ones = np.ones(turns.shape)
    result = spread(factors, value) / scale
    size = spread(ones, np.abs(value).astype(np.float64) + off) / float(scale)
    moved_by = spread(ones, off) / float(scale)
    lost = spread(ones, wild) > 0
    # Of large terms, the order decides whether a partial sum is infinite.
    lost = lost | ~(2 * float(scale) * size <= FORMATS[x.dtype].largest)

    def parts(array: Array) -> Array:
        return np.stack([array, array], -1)

    return computed(
        x.dtype,
        np.stack([result.real, result.imag], -1),
        parts(moved_by),
        1,
        slack=parts((length + _ROUNDINGS) * size),
        unconstrained=parts(lost),
    )


def _complex(x: Estimate) -> tuple[Array, Array]:
    if x.value.shape[-1] == 1:
        return x.value[..., 0] + 0j, x.error[..., 0]
    return x.value[..., 0] + 1j * x.value[..., 1], x.error[..., 0] + x.error[..., 1]


def _fitted(array: Array, axis: int, length: int) -> Array:
    """``array`` cut, or with zeros behind, to ``length`` elements along ``axis``."""
    own = array.shape[axis]
    if own >= length:
        return np.take(array, np.arange(length), axis)
    pads = [(0, 0)] * array.ndim
    pads[axis] = (0, length - own)
    return np.pad(array, pads)


@operator("DFT")
def _dft(call: Call) -> Estimate:
    x, rank = call[0], call[0].value.ndim
    stated, place = call.optional(1), call.named("axis")
    number = call.attribute("axis") if call.schema.input("axis") is None else -2
    axis = axis_of(integer(place) if place is not None else number, rank)
    inverse, one_sided = call.flag("inverse"), call.flag("onesided")
    if axis == rank - 1:
        raise ValueError("the axis of real and imaginary parts")
    if inverse and one_sided:
        return _to_real(x, axis, None if stated is None else integer(stated))
    length = x.value.shape[axis] if stated is None else integer(stated)
    return _transformed(x, axis, length, inverse, length // 2 + 1 if one_sided else length)


def _to_real(x: Estimate, axis: int, length: int | None) -> Estimate:
    """The signal whose first frequencies are ``x``; the others are their conjugates.

    The imaginary parts of the first, and of the middle one, have no part in a real signal.
    """
    own = x.value.shape[axis]
    count = 2 * (own - 1) if length is None else length
    half = count // 2 + 1
    first = moved(x, lambda each: _fitted(each, axis, half))
    mirrored = [at for at in range(1, half) if at < count - at]
    flipped = moved(first, lambda each: np.take(each, mirrored[::-1], axis))
    signs = np.array([1, -1])
    whole = Estimate(
        np.concatenate([first.value, flipped.value * signs], axis),
        np.concatenate([first.error, flipped.error], axis),
        x.dtype,
    )
    result = _transformed(whole, axis, count, True, count)
    return moved(result, lambda each: each[..., :1])


@operator("STFT")
def _stft(call: Call) -> Estimate:
    """The transforms of frames of a signal (batch, length, 1 or 2)."""
    signal, step = call[0], integer(call[1])
    window, stated = call.optional(2), call.optional(3)
    length = signal.value.shape[1]
    if stated is not None:
        length = integer(stated)
    elif window is not None:
        length = window.value.shape[0]
    count = (signal.value.shape[1] - length) // step + 1
    at = np.arange(count)[:, None] * step + np.arange(length)
    frames = moved(signal, lambda each: each[:, at])
    if window is not None:
        frames = relax("multiply", frames, moved(window, lambda each: each[:, None]))
    kept = length // 2 + 1 if call.flag("onesided") else length
    return _transformed(frames, 2, length, False, kept)
