"""ONNX's windows of signals and the filters of its MelWeightMatrix, which TVM does not import."""

import math
from collections.abc import Sequence

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/filters.py")

_WINDOWS = {
    "HannWindow": (0.5, 0.5, 0.0),
    "HammingWindow": (25 / 46, 1 - 25 / 46, 0.0),
    "BlackmanWindow": (0.42, 0.5, 0.08),
}
"""The factors of 1, of less the cosine, and of the cosine of twice the angle."""

_DTYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    16: "bfloat16",
}
"""Dtypes by ONNX's number."""

_INNER = "float64"


def _dtype(node: Node) -> str:
    number = int(node.attribute("output_datatype", 1))
    if number not in _DTYPES:
        raise invalid(node.operator, "it must be a number's dtype", output_datatype=number)
    return _DTYPES[number]


def window(node: Node) -> Expr:
    """A window of cosines.

    Raises:
        ValueError: an attribute is invalid.
    """
    (size,) = operands.sizes(node, 0, "size", 1)
    dtype, periodic = _dtype(node), operands.flag(node, "periodic", 1)
    first, second, third = _WINDOWS[node.operator]

    def compute(sizes: list[PrimExpr]) -> Tensor:
        around = sizes[0] if periodic else sizes[0] - tvm_api.integer(1)

        def angle(at: Sequence[PrimExpr]) -> PrimExpr:
            share = at[0].astype(_INNER) / tvm_api.at_least_one(around).astype(_INNER)
            return share * tirx.const(2 * math.pi, _INNER)

        # A value of its own: TVM's LLVM backend fails on some floats that are used twice.
        angles = filled([sizes[0]], angle, "angles")

        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            here = angles[tuple(at)]
            value = tirx.const(first, _INNER) - tirx.const(second, _INNER) * tirx.cos(here)
            if third:
                twice = tirx.cos(here * tirx.const(2.0, _INNER))
                value = value + tirx.const(third, _INNER) * twice
            return value.astype(dtype)

        return filled([sizes[0]], element, "window")

    return computed(node, compute, [size])


def mel_weights(node: Node) -> Expr:
    """The weights (frequency, mel bin) of triangles that are evenly spread on the mel scale.

    Raises:
        ValueError: an input is missing, or an attribute is invalid.
    """
    dtype = _dtype(node)
    (bins,) = operands.sizes(node, 0, "num_mel_bins", 1)
    (length,) = operands.sizes(node, 1, "dft_length", 1)
    names = ("sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    scalars = [_scalar(node, 2 + at, name) for at, name in enumerate(names)]

    def compute(sizes: list[PrimExpr], rate: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
        count, points = sizes
        zero, one, two = (tvm_api.integer(value) for value in (0, 1, 2))
        low, high = (_mel(edge[zero]) for edge in (lower, upper))
        step = (high - low) / (count + two).astype(_INNER)

        def edge(at: Sequence[PrimExpr]) -> PrimExpr:
            mel = at[0].astype(_INNER) * step + low
            ten = tirx.const(10.0, _INNER)
            power = tirx.power(ten, mel / tirx.const(2595.0, _INNER))
            hertz = tirx.const(700.0, _INNER) * (power - tirx.const(1.0, _INNER))
            place = (points + one).astype(_INNER) * hertz / rate[zero]
            return tirx.floor(place).astype("int64")

        edges = filled([count + two], edge, "edges")

        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            frequency, number = at
            left, center, right = (edges[number + tvm_api.integer(k)] for k in range(3))
            none = tirx.const(0.0, _INNER)
            up = (frequency - left).astype(_INNER) / _width(center - left)
            down = (right - frequency).astype(_INNER) / _width(right - center)
            rising = tirx.all(frequency >= left, frequency <= center)
            falling = tirx.all(frequency >= center, frequency < right)
            at_center = tirx.all(tvm_api.equal(center, left), tvm_api.equal(frequency, center))
            rises = tirx.Select(at_center, tirx.const(1.0, _INNER), tirx.Select(rising, up, none))
            value = tirx.Select(tirx.all(falling, right > center), down, rises)
            return value.astype(dtype)

        shape = [tvm_api.floordiv(points, 2) + one, count]
        return filled(shape, element, "weights")

    return computed(node, compute, [bins, length], *scalars)


def _scalar(node: Node, index: int, name: str) -> Expr:
    value = operands.widened(node, operands.required(node, index, name), _INNER)
    return node.emit(relax.op.reshape(value, relax.ShapeExpr([1])))


def _mel(hertz: PrimExpr) -> PrimExpr:
    one = tirx.const(1.0, _INNER)
    share = one + hertz / tirx.const(700.0, _INNER)
    return tirx.const(2595.0 / math.log(10.0), _INNER) * tirx.log(share)


def _width(size: PrimExpr) -> PrimExpr:
    """``size``, which is not 0 where it is a divisor, as a number."""
    return tirx.max(size, tvm_api.integer(1)).astype(_INNER)


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys(_WINDOWS, window),
    "MelWeightMatrix": mel_weights,
}


def _lacks_windows() -> bool:
    """True if a window is not computed."""
    size = np.array(4, np.int64)
    expected = np.array([0, 0.5, 1, 0.5], np.float32)
    return fails(node_model("HannWindow", {"size": size}, 17, held=("size",)), [], [expected])


def _lacks_filters() -> bool:
    """True if the weights of frequencies are not computed."""
    from onnx.reference import ReferenceEvaluator

    names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    values = (4, 16, 8192, 0.0, 4096.0)
    inputs = {
        name: np.array(value, np.float32 if isinstance(value, float) else np.int64)
        for name, value in zip(names, values, strict=True)
    }
    model = node_model("MelWeightMatrix", inputs, 17, held=names)
    (expected,) = ReferenceEvaluator(model).run(None, {})
    return fails(model, [], [np.asarray(expected)])


FIX = Fix(
    name="onnx_filters",
    operators=tuple(CONVERSIONS),
    fault="ONNX's windows of signals, and its MelWeightMatrix, are not imported",
    issue=None,
    parts=(
        FaultPart("windows", _lacks_windows),
        FaultPart("filters", _lacks_filters),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_fourier",
    patch=patch(CONVERSIONS),
)
