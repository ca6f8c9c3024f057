"""ONNX's Resize and Upsample, in every version.

TVM reads the inputs of opset 10 as those of 11, and takes the coordinates of 11 for it; takes the
quotient of sizes for the scale; ignores axes, antialiasing, the policy of aspect ratios and scales
of the batch and channels; and refuses sizes and scales at run time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.images import kernels
from relaxcheck.fixes.frontends.onnx.images.extents import sizes_after
from relaxcheck.fixes.frontends.onnx.images.kernels import Kernel, Line, number
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/resizing.py")

_HAS_COORDINATES = 11
_MODES = ("nearest", "linear", "cubic")
_UNCHANGED = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "asymmetric",
    "align_corners",
)
"""Coordinates of an axis that keeps its size are its own places."""


@dataclass(frozen=True, slots=True)
class Resizing:
    """The resizing of a node: ``axes`` of the data and the ``places`` of each afterwards.

    ``scales`` are numbers, a tensor at run time, or None where the sizes decide. ``window`` holds
    the starts and ends of the axes, as numbers or as a tensor.
    """

    mode: str
    coordinates: str
    rounding: str
    axes: tuple[int, ...]
    places: tuple[PrimExpr, ...]
    scales: Any
    window: Any
    kernel: Kernel | None
    extrapolation: float


def convert(node: Node) -> Expr:
    """The resized data.

    Raises:
        ValueError: an attribute or an input is invalid.
        OpNotImplemented: truth values are to be interpolated.
    """
    data = operands.required(node, 0, "X")
    rank = operands.rank_of(data)
    mode = "linear" if (text := str(node.attribute("mode", "nearest"))) == "bilinear" else text
    if mode not in _MODES:
        raise invalid(node.operator, f"it must be one of {', '.join(_MODES)}", mode=mode)
    modern = node.operator == "Resize" and node.opset >= _HAS_COORDINATES
    coordinates, rounding = "asymmetric", kernels.SIMPLE
    if modern:
        coordinates = operands.choice(
            node, "coordinate_transformation_mode", "half_pixel", kernels.COORDINATES
        )
        rounding = operands.choice(
            node, "nearest_mode", "round_prefer_floor", tuple(kernels.ROUNDINGS)
        )
    axes = operands.normalized_axes(node, node.attribute("axes", ()) or range(rank), rank)
    window = _window(node, rank, axes) if coordinates == kernels.CROP else None
    places, scales = sizes_after(node, data, axes)
    resizing = Resizing(
        mode, coordinates, rounding, tuple(axes), tuple(places), scales, window,
        _kernel(node, mode), operands.decimal(node, "extrapolation_value", 0.0),
    )  # fmt: skip
    return _resized(node, data, resizing)


def _kernel(node: Node, mode: str) -> Kernel | None:
    if mode == "nearest":
        return None
    stretched, inside = operands.flag(node, "antialias"), operands.flag(node, "exclude_outside")
    if mode == "linear":
        return Kernel(kernels.linear, 1, stretched, inside)
    alpha = operands.decimal(node, "cubic_coeff_a", -0.75)
    return Kernel(kernels.cubic(alpha), 2, stretched, inside)


def _window(node: Node, rank: int, axes: Sequence[int]) -> Any:
    """The window of interest: the starts of ``axes``, then their ends."""
    known = operands.held(node, 1)
    if known is not None:
        values = [float(value) for value in known.flat]
        if len(values) != 2 * len(axes):
            why = f"it must have {2 * len(axes)} elements"
            raise invalid(node.operator, why, **{"number of elements of roi": len(values)})
        return values
    if node.input(1) is None:
        raise invalid(node.operator, f"{kernels.CROP} needs it", roi=None)
    return operands.required(node, 1, "roi")


def _resized(node: Node, data: Expr, resizing: Resizing) -> Expr:
    dtype = tvm_api.dtype_of(data)
    if resizing.kernel is not None and dtype == "bool":
        raise refuse(node.operator, mode=resizing.mode, **{"dtype of X": dtype})
    inner = dtype
    if resizing.kernel is not None:
        inner = operands.inner_dtype(dtype) if dtype in operands.FLOATS else "float64"
    dims = tvm_api.shape_of(data)
    moved = [at for at, axis in enumerate(resizing.axes) if not _keeps(resizing, at, dims[axis])]
    if not moved:
        return data
    shape = list(dims)
    for axis, places in zip(resizing.axes, resizing.places, strict=True):
        if tvm_api.as_int(dims[axis]) == 0 and tvm_api.as_int(places) not in (0, None):
            shown = {"shape of X": tvm_api.show(dims)}
            raise invalid(node.operator, f"nothing has {tvm_api.show(places)} places", **shown)
        shape[axis] = places
    if 0 in map(tvm_api.as_int, shape):
        return node.emit(relax.op.zeros(relax.ShapeExpr(shape), dtype))
    tensors = _at_run_time(resizing)
    counts = _taps(node, data, resizing, moved)

    def compute(
        source: Tensor, places: list[PrimExpr], taps: list[PrimExpr], *further: Tensor
    ) -> Tensor:
        named = dict(zip(tensors, further, strict=True))
        lines = [_line(resizing, at, source, places[at], named) for at in moved]
        result = source
        for line, count in zip(lines, taps, strict=True):
            if resizing.kernel is None:
                result = kernels.nearest(result, line, resizing.coordinates, resizing.rounding)
            else:
                result = kernels.blended(result, line, resizing.coordinates, resizing.kernel, count)
        return _extrapolated(resizing, result, lines, dtype)

    wide = operands.widened(node, data, inner)
    return computed(node, compute, wide, list(resizing.places), counts, *tensors.values())


def _at_run_time(resizing: Resizing) -> dict[str, Expr]:
    """The scales and the window of interest that are known at run time alone."""
    pairs = (("scales", resizing.scales), ("window", resizing.window))
    return {
        name: value for name, value in pairs if value is not None and not isinstance(value, list)
    }


def _keeps(resizing: Resizing, at: int, dim: PrimExpr) -> bool:
    """True if the axis number ``at`` of ``resizing`` stays as it is."""
    if resizing.coordinates not in _UNCHANGED:
        return False
    if resizing.scales is None:
        return tvm_api.proves_equal(resizing.places[at], dim)
    return isinstance(resizing.scales, list) and resizing.scales[at] == 1


def _line(
    resizing: Resizing, at: int, source: Tensor, places: PrimExpr, tensors: dict[str, Tensor]
) -> Line:
    def read(values: Any, name: str, index: int, default: float) -> PrimExpr:
        if values is None:
            return number(default)
        if isinstance(values, list):
            return number(float(values[index]))
        return number(tensors[name][index])

    axis = resizing.axes[at]
    scale = None if resizing.scales is None else read(resizing.scales, "scales", at, 1.0)
    first = read(resizing.window, "window", at, 0.0)
    last = read(resizing.window, "window", at + len(resizing.axes), 1.0)
    size = source.shape[axis]
    if tvm_api.as_int(size) == 0:
        # Nothing is computed of no elements, and TVM refuses a quotient by a constant 0.
        size = tvm_api.integer(1)
    return Line(axis, size, places, scale, first, last)


def _taps(node: Node, data: Expr, resizing: Resizing, moved: Sequence[int]) -> list[PrimExpr]:
    """The numbers of elements that may have a share, along each of the ``moved`` axes."""
    kernel = resizing.kernel
    if kernel is None:
        return [tvm_api.integer(1) for _ in moved]
    if not kernel.stretched:
        return [tvm_api.integer(2 * kernel.reach) for _ in moved]
    if isinstance(resizing.scales, list):
        widths = [kernel.reach / min(resizing.scales[at], 1.0) for at in moved]
        return [tvm_api.integer(2 * int(np.ceil(width))) for width in widths]
    tensors = _at_run_time(resizing)

    def compute(source: Tensor, places: list[PrimExpr], *further: Tensor) -> Tensor:
        named = dict(zip(tensors, further, strict=True))
        lines = [_line(resizing, at, source, places[at], named) for at in moved]

        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            result = kernels.taps(lines[-1], kernel)
            for number_, line in reversed(list(enumerate(lines[:-1]))):
                here = indices[0] == tvm_api.integer(number_)
                result = tirx.Select(here, kernels.taps(line, kernel), result)
            return result

        return filled((tvm_api.integer(len(moved)),), element, "taps")

    counts = computed(node, compute, data, list(resizing.places), *tensors.values())
    return operands.at_run_time(node, "taps", counts, len(moved))


def _extrapolated(resizing: Resizing, source: Tensor, lines: Sequence[Line], dtype: str) -> Tensor:
    """``source`` in ``dtype``, with the attribute's value outside of the data."""

    def element(indices: Sequence[PrimExpr]) -> PrimExpr:
        value = _narrowed(source[tuple(indices)], dtype)
        if resizing.coordinates != kernels.CROP:
            return value
        outside = []
        for line in lines:
            at = kernels.coordinate(line, resizing.coordinates, indices[line.number])
            outside += [at < number(0.0), at > number(line.size) - number(1.0)]
        fill = tirx.const(resizing.extrapolation, kernels.INNER)
        return tirx.Select(tirx.any(*outside), _narrowed(fill, dtype), value)

    return filled(source.shape, element, "resized")


def _narrowed(value: PrimExpr, dtype: str) -> PrimExpr:
    """``value`` in ``dtype``; of integers within their range, rounded towards 0."""
    own = tvm_api.dtype_of(value)
    if own == dtype:
        return value
    if "int" in dtype and "float" in own:
        low, high = tirx.min_value(dtype), tirx.max_value(dtype)
        value = tirx.max(tirx.min(value, high.astype(own)), low.astype(own))
    return value.astype(dtype)


CONVERSIONS: dict[str, Convert] = {"Resize": convert, "Upsample": convert}


def _mistakes_versions() -> bool:
    """True if the scales of opset 10 are not read, or its coordinates are those of 11."""
    data = np.array([[[[1, 2]]]], np.float32)
    inputs = {"X": data, "scales": np.array([1, 1, 1, 1.5], np.float32)}
    model = node_model("Resize", inputs, 10, held=("scales",), mode="linear")
    return fails(model, [data], [np.array([[[[1, 1 + 2 / 3, 2]]]], np.float32)])


def _ignores_axes() -> bool:
    """True if sizes are not taken for the axes that the attribute names."""
    data = np.array([[1, 2]], np.float32)
    inputs = {"X": data, "roi": None, "scales": None, "sizes": np.array([4], np.int64)}
    model = node_model("Resize", inputs, 18, held=("sizes",), axes=[1])
    return fails(model, [data], [np.array([[1, 1, 2, 2]], np.float32)])


def _ignores_antialiasing() -> bool:
    """True if half as many pixels are each a mean of two, not of the four around them."""
    data, sizes = np.array([[[[1, 2, 4, 8]]]], np.float32), np.array([1, 1, 1, 2], np.int64)
    inputs = {"X": data, "roi": None, "scales": None, "sizes": sizes}
    model = node_model("Resize", inputs, 18, held=("sizes",), mode="linear", antialias=1)
    return fails(model, [data], [np.array([[[[1.75, 5.75]]]], np.float32)])


def _takes_quotients() -> bool:
    """True if the scale of coordinates is 4 / 3, the quotient of the sizes, in place of 1.5."""
    data, scales = np.array([[[[1, 2, 4]]]], np.float32), np.array([1, 1, 1, 1.5], np.float32)
    settings: dict[str, Any] = {"coordinate_transformation_mode": "asymmetric", "mode": "linear"}
    inputs = {"X": data, "roi": None, "scales": scales}
    model = node_model("Resize", inputs, 18, held=("scales",), **settings)
    return fails(model, [data], [np.array([[[[1, 5 / 3, 8 / 3, 4]]]], np.float32)])


def _refuses_scales() -> bool:
    """True if scales at run time are refused."""
    data, scales = np.array([[[[1, 2]]]], np.float32), np.array([1, 1, 2, 1], np.float32)
    model = node_model("Upsample", {"X": data, "scales": scales}, 9)
    return fails(model, [data, scales], [np.array([[[[1, 2], [1, 2]]]], np.float32)])


FIX = Fix(
    name="onnx_resizing",
    operators=tuple(CONVERSIONS),
    fault=(
        "ONNX's Resize of opset 10 is read as of 11; axes, antialiasing and aspect ratios are"
        " ignored, and the scale is taken from rounded sizes; scales and sizes at run time are"
        " refused"
    ),
    issue=None,
    parts=(
        FaultPart("opset 10", _mistakes_versions),
        FaultPart("axes", _ignores_axes),
        FaultPart("antialiasing", _ignores_antialiasing),
        FaultPart("rounded sizes", _takes_quotients),
        FaultPart("scales at run time", _refuses_scales),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_group_normalization",
    patch=patch(CONVERSIONS),
)
