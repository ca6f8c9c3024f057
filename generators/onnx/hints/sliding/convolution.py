"""Convolution: plain, transposed, deformed, and causal with a state."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Steps
from relaxcheck.generators.onnx.choices import numbers, word
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.hints.sliding.windows import (
    KERNEL,
    PADS,
    STRIDES,
    axes,
    batch,
    cycled,
    image,
    window,
)
from relaxcheck.generators.onnx.sketch import ONE, SIZE, USUAL, Sketch

_RANKS = (4, 3, 5)
_GROUP, _SHAPED = "group", "kernel_shape"
_CHANNELS = 4
_GROUPS: dict[Value, tuple[int, int]] = {
    None: (1, 6),
    "1": (1, 3),
    "2": (2, 6),
    "depthwise": (_CHANNELS, _CHANNELS),
    "multiplied": (_CHANNELS, 2 * _CHANNELS),
}
"""The groups of the four channels, and the channels of the result."""


def _groups(operator: str) -> Axis:
    return attribute(operator, _GROUP, tuple(value for value in _GROUPS if value is not None))


def _group(sketch: Sketch) -> tuple[int, int, int | None]:
    """The number of groups, the channels of the result, and the attribute."""
    groups, channels = _GROUPS[sketch.point[_GROUP]]
    return groups, channels, groups if sketch.has(_GROUP) else None


def _kernel_shape(sketch: Sketch, kernel: tuple[int, ...]) -> tuple[int, ...] | None:
    return kernel if sketch.has(_SHAPED) else None


def _bias(sketch: Sketch, channels: int) -> str:
    return sketch.parameter("bias", (channels,)) if sketch.has(with_("B")) else ""


def _conv(sketch: Sketch) -> None:
    own = window(sketch, sketch.rank - 2)
    groups, channels, stated = _group(sketch)
    shape = (batch(sketch), _CHANNELS, *image(sketch, own.least()))
    weight = sketch.parameter("w", (channels, _CHANNELS // groups, *own.kernel))
    sketch.node(
        sketch.data("x", shape),
        weight,
        _bias(sketch, channels),
        kernel_shape=_kernel_shape(sketch, own.kernel),
        group=stated,
        strides=own.strides,
        dilations=own.dilations,
        pads=own.pads,
        auto_pad=own.auto_pad,
    )


def _common(operator: str) -> tuple[Axis, ...]:
    return (
        *axes(operator, auto_pad=operator != "DeformConv"),
        _groups(operator),
        Axis(_SHAPED, (True, False), True),
        optional(operator, "B"),
    )


# Transposed

_ADDED, _STATED = "output_padding", "output_shape"


def _transposed(sketch: Sketch) -> None:
    count = sketch.rank - 2
    own = window(sketch, count)
    groups, channels, stated = _group(sketch)
    spatial = image(sketch, _least_back(sketch, count), fixed=sketch.has(_STATED))
    shape = (batch(sketch), _CHANNELS, *spatial)
    weight = sketch.parameter("w", (_CHANNELS, channels // groups, *own.kernel))
    sizes = None
    if sketch.has(_STATED):
        strides = own.strides or (1,) * count
        sizes = tuple(sketch.size(dim) * step for dim, step in zip(spatial, strides, strict=True))
    added = cycled(numbers(sketch.text(_ADDED)), count) if sketch.has(_ADDED) else None
    sketch.node(
        sketch.data("x", shape),
        weight,
        _bias(sketch, channels),
        kernel_shape=_kernel_shape(sketch, own.kernel),
        group=stated,
        strides=own.strides,
        dilations=own.dilations,
        pads=own.pads,
        auto_pad=own.auto_pad,
        output_padding=added,
        output_shape=sizes,
    )


def _least_back(sketch: Sketch, count: int) -> tuple[int, ...]:
    """The smallest image: padding takes from the result what the kernel adds."""
    own = window(sketch, count)
    short = (padding >= reach for padding, reach in zip(own.padding, own.reach, strict=True))
    return tuple(3 if each else 1 for each in short)


def _back_axes() -> tuple[Axis, ...]:
    def below_step(point: Point, value: Value) -> bool:
        steps = numbers(str(point.get(STRIDES) or "1"))
        added = numbers(str(value))
        return all(
            more < step for more, step in zip(cycled(added, 3), cycled(steps, 3), strict=True)
        )

    def fits(point: Point, value: Value) -> bool:
        # The size is that of the image times the stride, which the kernel has to reach.
        kernel, steps = str(point.get(KERNEL, "3")), str(point.get(STRIDES) or "1")
        reached = zip(cycled(numbers(kernel), 3), cycled(numbers(steps), 3), strict=True)
        return all(k >= step for k, step in reached) and point.get(PADS) is None

    return (
        attribute("ConvTranspose", _ADDED, ("0", "1", "0, 1", "1, 0"), below_step),
        attribute("ConvTranspose", _STATED, ("strides",), fits),
    )


# Deformed

_SCATTERED = "offset_group"


def _deformed(sketch: Sketch) -> None:
    own = window(sketch, 2)
    groups, channels, stated = _group(sketch)
    steps = own.strides or (1, 1)
    spatial = image(sketch, own.least(), fixed=True)
    sizes = zip(spatial, own.reach, own.padding, steps, strict=True)
    result = tuple(
        (sketch.size(size) + padding - reach) // step + 1 for size, reach, padding, step in sizes
    )
    rows = batch(sketch)
    offsets = int(str(sketch.point[_SCATTERED] or 1))
    taps = offsets * own.kernel[0] * own.kernel[1]
    mask = sketch.has(with_("mask"))
    sketch.node(
        sketch.data("x", (rows, _CHANNELS, *spatial)),
        sketch.parameter("w", (channels, _CHANNELS // groups, *own.kernel)),
        # Steps of eighths: most lie between pixels, some beyond the image.
        sketch.data("offset", (rows, 2 * taps, *result), fill=Steps(8, 20)),
        _bias(sketch, channels),
        sketch.data("mask", (rows, taps, *result)) if mask else "",
        kernel_shape=_kernel_shape(sketch, own.kernel),
        group=stated,
        offset_group=offsets if sketch.has(_SCATTERED) else None,
        strides=own.strides,
        dilations=own.dilations,
        pads=own.pads,
    )


# Causal


def _causal(sketch: Sketch) -> None:
    rows, channels = batch(sketch), 3
    length, kernel = sketch.symbol(2, 5), sketch.integer(KERNEL)
    if sketch.point[SIZE] == ONE:
        length = 1
    shape: tuple[Dim, ...] = (rows, channels, length)
    bias = sketch.parameter("bias", (channels,)) if sketch.has(with_("bias")) else ""
    state = ""
    if sketch.has(with_("past_state")):
        state = sketch.data("state", (rows, channels, kernel - 1))
    sketch.node(
        sketch.data("x", shape),
        sketch.parameter("w", (channels, 1, kernel)),
        bias,
        state,
        outputs=2,
        activation=word(sketch, "activation"),
    )


HINTS = (
    Hint("Conv", _conv, _common("Conv"), _RANKS),
    Hint("ConvTranspose", _transposed, (*_common("ConvTranspose"), *_back_axes()), _RANKS),
    Hint(
        "DeformConv",
        _deformed,
        (
            *_common("DeformConv"),
            attribute("DeformConv", _SCATTERED, ("1", "2")),
            optional("DeformConv", "mask"),
        ),
        (),
    ),
    Hint(
        "CausalConvWithState",
        _causal,
        (
            Axis(KERNEL, (3, 1, 4), 3),
            attribute("CausalConvWithState", "activation", ("none", "silu", "swish")),
            optional("CausalConvWithState", "bias"),
            optional("CausalConvWithState", "past_state"),
        ),
        (),
        sizes=(USUAL, ONE),
    ),
)
