"""ONNX's DFT and STFT, which TVM does not import.

They are sums over all elements of a line, in float64: so long a sum of float32 would lose digits
that a fast transform keeps. Angles are those of the product of a place and a frequency modulo the
length, which is an integer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import lines as onnx_lines
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/fourier.py")

_AXIS_IS_INPUT = 20
_REAL, _COMPLEX = 1, 2
_INNER = "float64"
"""The dtype of angles and sums."""
_ONE = tvm_api.integer(1)


@dataclass(frozen=True, slots=True)
class Transform:
    """A transform of lines: the sign of angles, the ``length`` in which they turn once.

    ``mirrored``: the data are the first frequencies of a real signal, the others their conjugates.
    """

    sign: int
    mirrored: bool


def _spectrum(
    transform: Transform, source: Tensor, length: PrimExpr, places: PrimExpr, inverse: bool
) -> Tensor:
    """The transform of lines (outer, own length, inner, parts) to ``places`` of each.

    What lies beyond ``length`` is cut off, what the lines lack is 0.
    """
    outer, own, inner, _ = source.shape
    parts = tvm_api.as_int(source.shape[3])
    two, half = tvm_api.integer(2), tvm_api.floordiv(length, 2)
    terms = half + _ONE if transform.mirrored else length
    kept = tirx.min(own, terms)

    def turn(function: str) -> Tensor:
        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            around = tvm_api.floormod(at[0] * at[1], tvm_api.at_least_one(length))
            share = around.astype(_INNER) / tvm_api.at_least_one(length).astype(_INNER)
            angle = share * tirx.const(transform.sign * 2 * math.pi, _INNER)
            return getattr(tirx, function)(angle)

        return filled([places, terms], element, function)

    cosine, sine = turn("cos"), turn("sin")

    def term(at: Sequence[PrimExpr], t: PrimExpr, part: PrimExpr) -> PrimExpr:
        line, f, column = at[:3]
        zero = tirx.const(0, _INNER)
        real = source[line, t, column, tvm_api.integer(0)]
        imaginary = source[line, t, column, _ONE] if parts == _COMPLEX else zero
        cos, sin = cosine[f, t], sine[f, t]
        result = real * cos - imaginary * sin
        if transform.mirrored:
            # A frequency and its conjugate, but for the first and the middle one.
            alone = tirx.any(tvm_api.equal(t, 0), tvm_api.equal(t * two, length))
            return tirx.Select(alone, real * cos, result * tirx.const(2, _INNER))
        turned = real * sin + imaginary * cos
        return tirx.Select(tvm_api.equal(part, 0), result, turned)

    results = tvm_api.integer(_REAL if transform.mirrored else _COMPLEX)

    def element(at: Sequence[PrimExpr]) -> PrimExpr:
        axis = te.reduce_axis((0, kept), "t")
        return te.sum(term(at, axis.var, at[3]), axis=axis)

    sums = filled([outer, places, inner, results], element, "spectrum")
    if not inverse:
        return sums
    count = tvm_api.at_least_one(length).astype(_INNER)
    return filled(sums.shape, lambda at: sums[tuple(at)] / count, "inverse")


def dft(node: Node) -> Expr:
    """The discrete Fourier transform along an axis.

    Raises:
        ValueError: a shape or an attribute is invalid.
        OpNotImplemented: the data are no floats.
    """
    data = operands.required(node, 0, "input")
    dtype = _float(node, "input", data)
    dims = tvm_api.shape_of(data)
    parts = tvm_api.as_int(dims[-1]) if len(dims) > 1 else None
    if parts not in (_REAL, _COMPLEX):
        why = "its last dimension must be 1 or 2"
        raise invalid(node.operator, why, **{"shape of input": tvm_api.show(dims)})
    inverse, one_sided = operands.flag(node, "inverse"), operands.flag(node, "onesided")
    if node.opset >= _AXIS_IS_INPUT:
        axis = operands.integers(node, 2)
        place = axis[0] if axis else -2
        _checked_axis(node, place, len(dims))
        # An axis from the end counts the parts as well.
        if axis is None and node.input(2) is not None:
            lines = _lines_at_run_time(node, dims)
        else:
            lines = onnx_lines.along(node, "axis", dims[:-1], _without_parts(place))
    else:
        place = int(node.attribute("axis", 1))
        _checked_axis(node, place, len(dims))
        lines = onnx_lines.along(node, "axis", dims[:-1], _without_parts(place))
    mirrored = inverse and one_sided
    length = lines.length
    if mirrored:
        length = (lines.length - _ONE) * tvm_api.integer(2)
    if node.input(1) is not None:
        (length,) = operands.sizes(node, 1, "dft_length", 1)
    places = length
    if one_sided and not inverse:
        places = tvm_api.floordiv(length, 2) + _ONE
    transform = Transform(1 if inverse else -1, mirrored)
    wide = operands.widened(node, data, _INNER)
    wide = operands.reshaped(node, wide, [*lines.shape, parts])

    def compute(source: Tensor, sizes: list[PrimExpr]) -> Tensor:
        return _spectrum(transform, source, sizes[0], sizes[1], inverse)

    result = computed(node, compute, wide, [length, places])
    shape = [*onnx_lines.resized(node, lines, places), _REAL if mirrored else _COMPLEX]
    return operands.widened(node, operands.reshaped(node, result, shape), dtype)


def _checked_axis(node: Node, axis: int, rank: int) -> None:
    if not -rank <= axis < rank or axis % rank == rank - 1:
        why = f"it must be from {-rank} to {rank - 2}, and not -1"
        raise invalid(node.operator, why, axis=axis)


def _without_parts(axis: int) -> int:
    """``axis`` of a tensor without its last dimension."""
    return axis + 1 if axis < 0 else axis


def _lines_at_run_time(node: Node, dims: Sequence[PrimExpr]) -> onnx_lines.Lines:
    place = operands.required(node, 2, "axis")
    one, zero = (tvm_api.const(np.array(value, tvm_api.dtype_of(place))) for value in (1, 0))
    behind = node.emit(relax.op.less(place, zero))
    moved = node.emit(relax.op.where(behind, relax.op.add(place, one), place))
    inputs = [*node.inputs[:2], moved]
    return onnx_lines.read(node.with_inputs(*inputs), "axis", dims[:-1], 2, 0)


def stft(node: Node) -> Expr:
    """The transforms of the frames of signals (batch, length, 1 or 2).

    Raises:
        ValueError: a shape or an attribute is invalid.
        OpNotImplemented: the signals are no floats.
    """
    signal = operands.required(node, 0, "signal")
    dtype = _float(node, "signal", signal)
    dims = tvm_api.shape_of(signal)
    if len(dims) == 2:
        signal, dims = operands.reshaped(node, signal, [*dims, 1]), [*dims, tvm_api.integer(1)]
    parts = tvm_api.as_int(dims[-1]) if len(dims) == 3 else None
    if parts not in (_REAL, _COMPLEX):
        why = "it must be (batch, length, 1 or 2)"
        raise invalid(node.operator, why, **{"shape of signal": tvm_api.show(dims)})
    (step,) = operands.sizes(node, 1, "frame_step", 1)
    window = operands.optional(node, 2, "window")
    length = dims[1] if window is None else tvm_api.shape_of(window)[0]
    if node.input(3) is not None:
        (length,) = operands.sizes(node, 3, "frame_length", 1)
    one_sided = operands.flag(node, "onesided", 1)
    transform = Transform(-1, False)

    def compute(source: Tensor, sizes: list[PrimExpr], *windows: Tensor) -> Tensor:
        stride, frame = sizes
        batch, size, both = source.shape
        count = tirx.floordiv(size - frame, tvm_api.at_least_one(stride)) + _ONE
        flat = batch * count

        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            row, frame_number = tirx.floordiv(at[0], count), tirx.floormod(at[0], count)
            value = source[row, frame_number * stride + at[1], at[3]]
            for each in windows:
                value = value * each[at[1]]
            return value

        framed = filled([flat, frame, _ONE, both], element, "framed")
        places = tvm_api.floordiv(frame, 2) + _ONE if one_sided else frame
        spectrum = _spectrum(transform, framed, frame, places, False)
        zero = tvm_api.integer(0)

        def whole(at: Sequence[PrimExpr]) -> PrimExpr:
            return spectrum[at[0] * count + at[1], at[2], zero, at[3]]

        return filled([batch, count, places, tvm_api.integer(_COMPLEX)], whole, "frames")

    wide = operands.widened(node, signal, _INNER)
    windows = [] if window is None else [operands.widened(node, window, _INNER)]
    return operands.widened(node, computed(node, compute, wide, [step, length], *windows), dtype)


def _float(node: Node, name: str, data: Expr) -> str:
    dtype = tvm_api.dtype_of(data)
    if dtype not in operands.FLOATS:
        raise refuse(node.operator, **{f"dtype of {name}": dtype})
    return dtype


CONVERSIONS: dict[str, Convert] = {"DFT": dft, "STFT": stft}


def _lacks_transforms() -> bool:
    """True if a spectrum is not computed."""
    data = np.array([[[1], [2], [4]]], np.float32)
    expected = np.array([[[7, 0], [-2, math.sqrt(3)], [-2, -math.sqrt(3)]]], np.float32)
    return fails(node_model("DFT", {"input": data}, 17, axis=1), [data], [expected])


def _lacks_frames() -> bool:
    """True if the spectra of frames are not computed."""
    inputs: dict[str, Array] = {
        "signal": np.array([[[1], [2], [4], [8]]], np.float32),
        "frame_step": np.array(2, np.int64),
        "window": np.ones(2, np.float32),
    }
    expected = np.array([[[[3, 0], [-1, 0]], [[12, 0], [-4, 0]]]], np.float32)
    return fails(node_model("STFT", inputs, 17), list(inputs.values()), [expected])


FIX = Fix(
    name="onnx_fourier",
    operators=tuple(CONVERSIONS),
    fault="ONNX's DFT and STFT are not imported",
    issue=None,
    parts=(
        FaultPart("transforms", _lacks_transforms),
        FaultPart("frames", _lacks_frames),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_determinants",
    patch=patch(CONVERSIONS),
)
