"""Pooling, over windows and over whole images, and back."""

from itertools import product
from math import prod

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.onnx.choices import by_version, whole
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.hints.sliding.windows import (
    KERNEL,
    PADS,
    STRIDES,
    axes,
    batch,
    image,
    window,
)
from relaxcheck.generators.onnx.model import Attribute, Node
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import STATIC, USUAL, Sketch

_RANKS = (4, 3, 5)
_INDICES = "indices"
_NUMBERS = ("ceil_mode", "count_include_pad", "storage_order", "p")


def _pool(sketch: Sketch) -> None:
    count = sketch.rank - 2
    own = window(sketch, count)
    shape = (batch(sketch), sketch.symbol(1, 3), *image(sketch, own.least()))
    sketch.node(
        sketch.data("x", shape),
        outputs=2 if sketch.has(_INDICES) else 1,
        kernel_shape=own.kernel,
        strides=own.strides,
        dilations=own.dilations,
        pads=own.pads,
        auto_pad=own.auto_pad,
        settings={name: whole(sketch, name) for name in _NUMBERS},
    )


def _with_indices() -> tuple[Axis, ...]:
    def there(version: Schema, point: Point, value: Value) -> bool:
        return value is False or len(version.outputs) > 1

    def ordered(point: Point, value: Value) -> bool:
        # Without indices the order has no effect.
        return point.get(_INDICES) is not False

    return (
        by_version("MaxPool", _INDICES, (False, True), there, False),
        attribute("MaxPool", "storage_order", (0, 1), ordered),
    )


def _pooling(operator: str, *more: Axis) -> Hint:
    found = (*axes(operator, pooling=True), attribute(operator, "ceil_mode", (1, 0)), *more)
    return Hint(operator, _pool, found, _RANKS, held=())


def _global(sketch: Sketch) -> None:
    shape = (batch(sketch), sketch.symbol(1, 3), *image(sketch, (1,) * (sketch.rank - 2)))
    sketch.node(sketch.data("x", shape), p=whole(sketch, "p"))


def _globally(operator: str, *more: Axis) -> Hint:
    return Hint(operator, _global, more, _RANKS, held=())


_FORM = "form"
_LITERAL, _POOLED = "literal", "pooled"


_PLANES = (2, 2)
_POOLS = (2, 3, 2)
"""The sizes of the batch and the channels, and of the image that is unpooled."""


def _unpool(sketch: Sketch) -> None:
    """Indices come from MaxPool, or are the first place of each window."""
    count = sketch.rank - 2
    own = window(sketch, count)
    strides = own.strides or (1,) * count
    pooled = _POOLS[:count]
    sizes = zip(pooled, strides, own.kernel, own.padding, strict=True)
    full = tuple((size - 1) * step + k - padding for size, step, k, padding in sizes)
    dtype = sketch.dtype("T1")
    attributes = {"kernel_shape": own.kernel, "strides": own.strides, "pads": own.pads}
    present: dict[str, Attribute] = {
        name: value for name, value in attributes.items() if value is not None
    }
    if sketch.point[_FORM] == _POOLED:
        source = sketch.data("image", (*_PLANES, *full), dtype)
        data, places = "pooled", "places"
        sketch.nodes.append(Node("MaxPool", (source,), (data, places), present))
    else:
        data = sketch.data("x", (*_PLANES, *pooled), dtype)
        fill = Literal(_places(pooled, full, strides))
        places = sketch.parameter("places", (*_PLANES, *pooled), "int64", fill)
    stated = ""
    if sketch.has(with_("output_shape")):
        stated = sketch.literal("output_shape", (*_PLANES, *(size + 1 for size in full)))
    sketch.node(data, places, stated, settings=attributes)


def _places(
    pooled: tuple[int, ...], full: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[int, ...]:
    """The first place of each window, counted through the whole result."""
    found = []
    for plane, *spots in product(range(prod(_PLANES)), *map(range, pooled)):
        place = plane
        for size, spot, step in zip(full, spots, strides, strict=True):
            place = place * size + spot * step
        found.append(place)
    return tuple(found)


def _unpooling() -> tuple[Axis, ...]:
    def padded(point: Point, value: Value) -> bool:
        # A window within the padding would have no place of its own.
        kernel = str(point.get(KERNEL, "3"))
        return value == "0" or kernel == "3" or (kernel != "1" and value in ("begin", "end"))

    return (
        Axis(KERNEL, ("2", "3", "1", "2, 3"), "2"),
        attribute("MaxUnpool", STRIDES, ("1", "2", "2, 1")),
        attribute("MaxUnpool", PADS, ("0", "1", "begin", "end", "mixed"), padded),
        optional("MaxUnpool", "output_shape"),
        Axis(_FORM, (_LITERAL, _POOLED), _LITERAL),
    )


HINTS = (
    _pooling("AveragePool", attribute("AveragePool", "count_include_pad", (1, 0))),
    _pooling("MaxPool", *_with_indices()),
    _pooling("LpPool", attribute("LpPool", "p", (1, 2, 3))),
    _globally("GlobalAveragePool"),
    _globally("GlobalMaxPool"),
    _globally("GlobalLpPool", attribute("GlobalLpPool", "p", (1, 2, 3))),
    Hint(
        "MaxUnpool",
        _unpool,
        _unpooling(),
        _RANKS,
        dims=(STATIC,),
        sizes=(USUAL,),
    ),
)
