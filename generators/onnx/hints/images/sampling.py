"""Sampling of images at the points of grids, and columns of patches back to images."""

from math import prod

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Steps
from relaxcheck.generators.onnx.choices import by_version, numbers, whole, word
from relaxcheck.generators.onnx.hint import Hint, attribute
from relaxcheck.generators.onnx.hints.sliding.windows import batch, cycled
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import RANK, STATIC, USUAL, Sketch

_FLOATS = ("float32", "float64", "float16", "bfloat16")


def _sample(sketch: Sketch) -> None:
    rank = sketch.rank
    rows = batch(sketch)
    spatial = tuple(sketch.symbol(at + 2, size) for at, size in enumerate((5, 4, 3)[: rank - 2]))
    data = sketch.data("x", (rows, sketch.symbol(1, 3), *spatial), sketch.dtype("T1"))
    points: tuple[Dim, ...] = (rows, *(3, 2, 2)[: rank - 2], rank - 2)
    # Steps of elevenths: hardly any is half way between two pixels, and some lie outside.
    grid = sketch.data("grid", points, sketch.dtype("T2"), Steps(11, 15))
    sketch.node(
        data,
        grid,
        mode=word(sketch, "mode"),
        padding_mode=word(sketch, "padding_mode"),
        align_corners=whole(sketch, "align_corners"),
    )


def _sample_axes() -> tuple[Axis, ...]:
    def known(version: Schema, point: Point, value: Value) -> bool:
        smooth = str(point.get("T1", "float32")) in _FLOATS
        names = ("linear", "nearest", "cubic")
        if version.since < 20:
            names = ("bilinear", "nearest", "bicubic")
            if point.get(RANK, 4) != 4:
                return False
        if value is None:
            return smooth
        cubic = value in ("cubic", "bicubic")
        flat = not cubic or point.get(RANK, 4) == 4
        return value in names and flat and (smooth or value == "nearest")

    def ranked(version: Schema, point: Point, value: Value) -> bool:
        return value == 4 or version.since >= 20

    modes = ("linear", "bilinear", "nearest", "cubic", "bicubic")
    return (
        by_version("GridSample", RANK, (4, 5), ranked, 4),
        by_version("GridSample", "mode", (None, *modes), known),
        attribute("GridSample", "padding_mode", ("border", "reflection", "zeros")),
        attribute("GridSample", "align_corners", (1, 0)),
    )


def _affine(sketch: Sketch) -> None:
    spatial = (3, 4, 2)[: sketch.rank - 2]
    theta = sketch.data("theta", (2, len(spatial), len(spatial) + 1), sketch.dtype("T1"))
    size = sketch.literal("sizes", (2, 3, *spatial))
    sketch.node(theta, size, align_corners=whole(sketch, "align_corners"))


# Columns of patches

_BLOCK, _STRIDES, _DILATIONS, _PADS = "block", "strides", "dilations", "pads"
_IMAGE = (5, 6, 4)


def _col2im(sketch: Sketch) -> None:
    count = sketch.integer("spatial")
    block = cycled(numbers(sketch.text(_BLOCK)), count)

    def each(name: str, default: int) -> tuple[int, ...]:
        stated = sketch.text(name) if sketch.has(name) else str(default)
        return cycled(numbers(stated), count)

    strides, dilations = each(_STRIDES, 1), each(_DILATIONS, 1)
    pads = each(_PADS, 0)
    image = _IMAGE[:count]
    sizes = zip(image, block, strides, dilations, pads, strict=True)
    blocks = prod(
        (size + 2 * pad - dilation * (k - 1) - 1) // step + 1
        for size, k, step, dilation, pad in sizes
    )
    shape = (batch(sketch), 2 * prod(block), blocks)
    sketch.node(
        sketch.data("x", shape),
        sketch.literal("image_shape", image),
        sketch.literal("block_shape", block),
        strides=strides if sketch.has(_STRIDES) else None,
        dilations=dilations if sketch.has(_DILATIONS) else None,
        pads=pads * 2 if sketch.has(_PADS) else None,
    )


_SUMMED = (*_FLOATS, *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))

HINTS = (
    Hint("GridSample", _sample, _sample_axes(), (), held=()),
    Hint(
        "AffineGrid",
        _affine,
        (attribute("AffineGrid", "align_corners", (1, 0)),),
        (4, 5),
        dims=(STATIC,),
        sizes=(USUAL,),
    ),
    Hint(
        "Col2Im",
        _col2im,
        (
            Axis("spatial", (2, 1, 3), 2),
            Axis(_BLOCK, ("2", "3, 2", "1"), "2"),
            attribute("Col2Im", _STRIDES, ("2", "1", "2, 1")),
            attribute("Col2Im", _DILATIONS, ("1", "1, 2")),
            attribute("Col2Im", _PADS, ("1", "0", "0, 1")),
        ),
        (),
        types={"T": _SUMMED},
    ),
)
