"""Resizing by factors or to sizes, in every version."""

from dataclasses import replace
from math import floor

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.onnx.choices import by_version, decimal, decimals, numbers, whole, word
from relaxcheck.generators.onnx.hint import Hint, attribute
from relaxcheck.generators.onnx.hints.sliding.windows import batch
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import RANK, Sketch

_MODE, _BY, _FACTORS, _AXES = "mode", "by", "factors", "axes"
_COORDINATES, _NEAREST = "coordinate_transformation_mode", "nearest_mode"
_POLICY, _ANTIALIAS = "keep_aspect_ratio_policy", "antialias"
_CROP = "tf_crop_and_resize"
_SCALES, _SIZES = "scales", "sizes"
_IMAGE = (4, 5, 3)
_SMOOTH = ("float32", "float64", "float16", "bfloat16", "uint8", "int8")
"""The dtypes that are interpolated."""
_FLOATS = ("float32", "float64", "float16", "bfloat16")


def _dtype_of(point: Point) -> str:
    """The dtype of the data, whose parameter has another name in the first version."""
    return str(
        point.get("T", "float32") if point.get("opset") == 10 else point.get("T1", "float32")
    )


def _is_nearest(point: Point) -> bool:
    return point.get(_MODE) in (None, "nearest")


def _factors(sketch: Sketch, count: int) -> tuple[float, ...]:
    values = decimals(sketch.text(_FACTORS))
    return tuple(values[at % len(values)] for at in range(count))


def _resize(sketch: Sketch) -> None:
    rank = sketch.rank
    count = max(rank - 2, 1)
    schema = sketch.schema
    dtype = sketch.dtype(schema.inputs[0].type)
    fixed = sketch.point[_BY] == _SIZES
    leading: tuple[Dim, ...] = (batch(sketch), sketch.symbol(1, 3))[: rank - count]
    if fixed:
        leading = tuple(sketch.size(dim) for dim in leading)
    spatial = tuple(_spatial(sketch, at, fixed=fixed) for at in range(count))
    data = sketch.data("x", (*leading, *spatial), dtype)
    factors = (*(1.0,) * (rank - count), *_factors(sketch, count))
    axes = _axes(sketch, rank)
    chosen = tuple(factors[axis] for axis in axes)
    inputs = [data]
    if schema.since == 10:
        inputs.append(sketch.literal(_SCALES, chosen, "float32"))
    else:
        inputs += _inputs(sketch, (*leading, *spatial), axes, chosen)
    sketch.node(
        *inputs,
        mode=word(sketch, _MODE),
        nearest_mode=word(sketch, _NEAREST),
        coordinate_transformation_mode=word(sketch, _COORDINATES),
        cubic_coeff_a=decimal(sketch, "cubic_coeff_a"),
        exclude_outside=whole(sketch, "exclude_outside"),
        extrapolation_value=decimal(sketch, "extrapolation_value"),
        antialias=whole(sketch, _ANTIALIAS),
        keep_aspect_ratio_policy=word(sketch, _POLICY),
        axes=numbers(sketch.text(_AXES)) if sketch.has(_AXES) else None,
    )


def _spatial(sketch: Sketch, at: int, *, fixed: bool) -> Dim:
    size = _IMAGE[at % len(_IMAGE)]
    return size if fixed else sketch.symbol(at + 2, size)


def _axes(sketch: Sketch, rank: int) -> tuple[int, ...]:
    """The dimensions that factors and sizes are for, in their order."""
    if not sketch.has(_AXES):
        return tuple(range(rank))
    return tuple(axis % rank for axis in numbers(sketch.text(_AXES)))


def _inputs(
    sketch: Sketch, shape: tuple[Dim, ...], axes: tuple[int, ...], factors: tuple[float, ...]
) -> list[str]:
    """The region, the factors, and the sizes, of which only one is there."""
    required = not sketch.schema.inputs[1].optional
    roi, scales, sizes = "", "", ""
    if sketch.point[_COORDINATES] == _CROP:
        # Dimensions that stay are taken whole. By factors the region is as large as the image: the
        # text counts it in the size of the result, ONNX's inference and all implementations do not.
        inner = [factor != 1 for factor in factors]
        last = 0.875 if sketch.point[_BY] == _SIZES else 1.125
        starts = [0.125 if each else 0.0 for each in inner]
        ends = [last if each else 1.0 for each in inner]
        roi = sketch.literal("roi", (*starts, *ends), sketch.dtype("T2"))
    elif required:
        roi = sketch.literal("roi", (), sketch.dtype("T2"))
    if sketch.point[_BY] == _SIZES:
        known = [sketch.size(shape[axis]) for axis in axes]
        wanted = [
            max(floor(size * factor), min(size, 1))
            for size, factor in zip(known, factors, strict=True)
        ]
        sizes = sketch.literal(_SIZES, wanted)
        if required:
            scales = sketch.literal(_SCALES, (), "float32")
    else:
        scales = sketch.literal(_SCALES, factors, "float32")
    return [roi, scales, sizes]


def _resize_axes() -> tuple[Axis, ...]:
    def moded(version: Schema, point: Point, value: Value) -> bool:
        if value == "cubic":
            return version.since > 10 and _dtype_of(point) in _SMOOTH
        return value in (None, "nearest") or _dtype_of(point) in _SMOOTH

    def sized(version: Schema, point: Point, value: Value) -> bool:
        return value == _SCALES or version.since > 10

    def transformed(version: Schema, point: Point, value: Value) -> bool:
        if value is None or version.since == 10:
            return value is None
        if value == "tf_half_pixel_for_nn":
            return version.since == 11
        if value == "half_pixel_symmetric":
            return version.since >= 19
        return True

    def rounded(point: Point, value: Value) -> bool:
        return _is_nearest(point)

    def cubic(point: Point, value: Value) -> bool:
        return point.get(_MODE) == "cubic"

    def weighted(point: Point, value: Value) -> bool:
        # The text does not say how weighted integers are rounded: no value of them is judged.
        return not _is_nearest(point) and (not value or _dtype_of(point) in _FLOATS)

    def excluded(point: Point, value: Value) -> bool:
        # Between two neighbours alone, those outside have the weight 0 already.
        wide = cubic(point, value) or point.get(_ANTIALIAS) == 1
        return weighted(point, value) and (wide or not value)

    def cropped(point: Point, value: Value) -> bool:
        return point.get(_COORDINATES) == _CROP

    def kept(point: Point, value: Value) -> bool:
        # The sizes are to bound all dimensions that are resized, and no other.
        return point.get(_BY) == _SIZES and (value == "stretch" or point.get(_AXES) is not None)

    def within(point: Point, value: Value) -> bool:
        rank = point.get(RANK, 4)
        assert isinstance(rank, int)
        return all(-rank <= axis < rank for axis in numbers(str(value)))

    operator = "Resize"
    modes = (None, "nearest", "linear", "cubic")
    coordinates = (
        *("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"),
        *("tf_half_pixel_for_nn", _CROP, "half_pixel_symmetric"),
    )
    return (
        # Much is drawn for cubic interpolation alone, and shows in floats only.
        replace(by_version(operator, _MODE, modes, moded), weights={"cubic": 8}),
        by_version(operator, _BY, (_SCALES, _SIZES), sized, _SCALES),
        Axis(_FACTORS, ("2", "0.5", "1", "1.5", "2, 0.6", "0.75, 3"), "2"),
        by_version(operator, _COORDINATES, (None, *coordinates), transformed),
        attribute(operator, _NEAREST, _ROUNDINGS, rounded),
        attribute(operator, "cubic_coeff_a", ("-0.5", "-0.75"), cubic),
        attribute(operator, "extrapolation_value", ("1", "0"), cropped),
        attribute(operator, _ANTIALIAS, (1, 0), weighted),
        replace(attribute(operator, "exclude_outside", (1, 0), excluded), weights={1: 10}),
        attribute(operator, _AXES, ("2, 3", "3, 2", "-1", "-2, -1", "1", "0, 1, 2"), within),
        attribute(operator, _POLICY, ("stretch", "not_larger", "not_smaller"), kept),
    )


_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def _upsample(sketch: Sketch) -> None:
    rank = sketch.rank
    count = max(rank - 2, 1)
    leading: tuple[Dim, ...] = (batch(sketch), sketch.symbol(1, 3))[: rank - count]
    spatial = tuple(_spatial(sketch, at, fixed=False) for at in range(count))
    data = sketch.data("x", (*leading, *spatial))
    factors = (*(1.0,) * (rank - count), *_factors(sketch, count))
    if _SCALES in sketch.schema.attributes:
        sketch.node(data, mode=word(sketch, _MODE), scales=factors)
        return
    sketch.node(data, sketch.literal(_SCALES, factors, "float32"), mode=word(sketch, _MODE))


def _upsample_axes() -> tuple[Axis, ...]:
    def moded(point: Point, value: Value) -> bool:
        return value == "nearest" or str(point.get("T", "float32")) in _SMOOTH

    return (
        attribute("Upsample", _MODE, ("nearest", "linear"), moded),
        Axis(_FACTORS, ("2", "1", "3", "1.5", "2, 1"), "2"),
    )


HINTS = (
    Hint("Resize", _resize, _resize_axes(), (4, 3, 5, 2, 1)),
    Hint("Upsample", _upsample, _upsample_axes(), (4, 3, 5, 2, 1)),
)
