"""ONNX's Resize and Upsample, in every version.

TVM reads the inputs of opset 10 as those of 11, and takes the coordinates of 11 for it; takes the
quotient of sizes for the scale; ignores axes, antialiasing, the policy of aspect ratios and scales
of the batch and channels; and refuses sizes and scales at run time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from tvm import tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.images import kernels
from relaxcheck.fixes.frontends.onnx.images.kernels import Kernel, Line, number
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/resizing.py")

_HAS_COORDINATES = 11
_MODES = ("nearest", "linear", "cubic")
_POLICIES = ("stretch", "not_larger", "not_smaller")
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
    places, scales = _sizes(node, data, axes)
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


def _present(node: Node, index: int) -> bool | None:
    """True if input number ``index`` is there and has elements; None if that is not known."""
    value = node.input(index)
    if value is None:
        return False
    if not tvm_api.is_tensor(value) or not tvm_api.has_shape(value):
        return True
    dims = list(map(tvm_api.as_int, tvm_api.shape_of(value)))
    return False if 0 in dims else None if None in dims else True


def _sizes(node: Node, data: Expr, axes: Sequence[int]) -> tuple[list[PrimExpr], Any]:
    """The sizes of ``axes`` after resizing, and the scales.

    A window of interest has no part in them, as in ONNX Runtime and in ONNX's evaluator.
    """
    by_attribute = node.attribute("scales")
    if node.operator == "Upsample" and by_attribute is not None:
        return _scaled(node, data, axes, [float(scale) for scale in by_attribute])
    index = 2 if node.operator == "Resize" and node.opset >= _HAS_COORDINATES else 1
    by_sizes = index == 2 and _present(node, 3)
    by_scales = _present(node, index)
    if (by_sizes and by_scales) or not (by_sizes is not False or by_scales is not False):
        shown = {"sizes": by_sizes or None, "scales": by_scales or None}
        raise invalid(node.operator, "it needs one of both", **shown)
    # An input of a number of elements that is not known is the one that is empty.
    if by_sizes or (by_sizes is None and not by_scales):
        return _sized(node, data, axes)
    known = operands.held(node, index)
    if known is not None:
        return _scaled(node, data, axes, [float(scale) for scale in known.flat])
    return _scaled_at_run_time(node, data, axes, operands.required(node, index, "scales"))


def _scaled(
    node: Node, data: Expr, axes: Sequence[int], scales: list[float]
) -> tuple[list[PrimExpr], Any]:
    if len(scales) != len(axes) or not all(scale > 0 for scale in scales):
        why = f"there must be {len(axes)} numbers greater than 0"
        raise invalid(node.operator, why, scales=scales)
    dims = tvm_api.shape_of(data)
    return [
        _multiplied(dims[axis], scale) for axis, scale in zip(axes, scales, strict=True)
    ], scales


def _multiplied(dim: PrimExpr, scale: float) -> PrimExpr:
    """``dim * scale``, a product of float32, rounded down."""
    known = tvm_api.as_int(dim)
    if known is not None:
        return tvm_api.integer(int(np.floor(np.float32(scale) * np.float32(known))))
    factor = Fraction(scale)
    short = factor.limit_denominator(1 << 12)
    if np.float32(float(short)) == np.float32(scale):
        # Such as 7/10 for the nearest float32, whose product with 10 rounds to 7.
        factor = short
    return tvm_api.floordiv(dim * tvm_api.integer(factor.numerator), factor.denominator)


def _scaled_at_run_time(
    node: Node, data: Expr, axes: Sequence[int], scales: Expr
) -> tuple[list[PrimExpr], Any]:
    scales = node.builder.match_cast(
        scales, tvm_api.tensor_type([len(axes)], tvm_api.dtype_of(scales))
    )

    def compute(dims: list[PrimExpr], factors: Tensor) -> Tensor:
        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            product = factors[indices[0]].astype("float32") * _one_of(dims, indices[0])
            return tirx.floor(product).astype("int64")

        return filled((tvm_api.integer(len(axes)),), element, "sizes")

    dims = [tvm_api.shape_of(data)[axis] for axis in axes]
    sizes = computed(node, compute, dims, scales)
    return operands.at_run_time(node, "size", sizes, len(axes)), scales


def _one_of(dims: Sequence[PrimExpr], at: PrimExpr) -> PrimExpr:
    """The dimension number ``at``, as float32."""
    result = dims[-1].astype("float32")
    for number_, dim in reversed(list(enumerate(dims[:-1]))):
        result = tirx.Select(at == tvm_api.integer(number_), dim.astype("float32"), result)
    return result


def _sized(node: Node, data: Expr, axes: Sequence[int]) -> tuple[list[PrimExpr], Any]:
    places = operands.sizes(node, 3, "sizes", len(axes))
    policy = operands.choice(node, "keep_aspect_ratio_policy", "stretch", _POLICIES)
    if policy == "stretch":
        return places, None
    dims = [tvm_api.shape_of(data)[axis] for axis in axes]

    def ratios(old: list[PrimExpr], new: list[PrimExpr]) -> PrimExpr:
        quotients = [number(after) / number(before) for before, after in zip(old, new, strict=True)]
        result = quotients[0]
        for quotient in quotients[1:]:
            limit = tirx.min if policy == "not_larger" else tirx.max
            result = limit(result, quotient)
        return result

    def scale(old: list[PrimExpr], new: list[PrimExpr]) -> Tensor:
        return filled((tvm_api.integer(len(axes)),), lambda indices: ratios(old, new), "scales")

    def size(old: list[PrimExpr], new: list[PrimExpr]) -> Tensor:
        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            product = ratios(old, new) * _one_of(old, indices[0]).astype(kernels.INNER)
            return tirx.floor(product + number(0.5)).astype("int64")

        return filled((tvm_api.integer(len(axes)),), element, "sizes")

    known = [tvm_api.as_int(dim) for dim in (*dims, *places)]
    if None not in known:
        old, new = np.split(np.array(known, np.float64), 2)
        factor = float((new / old).min() if policy == "not_larger" else (new / old).max())
        rounded = np.floor(factor * old + 0.5).astype(np.int64)
        return [tvm_api.integer(int(value)) for value in rounded], [factor] * len(axes)
    scales = computed(node, scale, dims, places)
    sizes = computed(node, size, dims, places)
    return operands.at_run_time(node, "size", sizes, len(axes)), scales


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
    tensors = {
        name: value
        for name, value in (("scales", resizing.scales), ("window", resizing.window))
        if value is not None and not isinstance(value, list)
    }
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
    return Line(axis, source.shape[axis], places, scale, first, last)


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
    tensors = {} if resizing.scales is None else {"scales": resizing.scales}

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
        FaultPart("scales at run time", _refuses_scales),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_group_normalization",
    patch=patch(CONVERSIONS),
)
