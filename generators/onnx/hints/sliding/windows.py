"""The axes of windows: kernels, strides, dilations, padding; and sizes that hold such windows."""

from collections.abc import Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.onnx.choices import numbers, word
from relaxcheck.generators.onnx.hint import attribute
from relaxcheck.generators.onnx.sketch import NONE, ONE, SIZE, Sketch

KERNEL, STRIDES, DILATIONS, PADS, AUTO_PAD = "kernel", "strides", "dilations", "pads", "auto_pad"
TIGHT = "tight"

_KERNELS = ("3", "1", "2", "2, 3")
_PADS = {
    "0": ((0,), (0,)),
    "1": ((1,), (1,)),
    "begin": ((1,), (0,)),
    "end": ((0,), (1,)),
    "mixed": ((1, 0, 1), (0, 1, 1)),
}
"""The padding before and behind, for each spatial dimension in turn."""


def cycled(values: Sequence[int], count: int) -> tuple[int, ...]:
    """The first ``count`` of ``values``, over and over."""
    return tuple(values[at % len(values)] for at in range(count))


def is_padded_by_hand(point: Point) -> bool:
    """True if ``pads`` say how to pad, and not ``auto_pad``."""
    return point.get(AUTO_PAD) in (None, "NOTSET")


def axes(operator: str, *, pooling: bool = False, auto_pad: bool = True) -> tuple[Axis, ...]:
    """The axes of a window: of a kernel that slides, or one that pools."""

    def padded(point: Point, value: Value) -> bool:
        # A window that lies in the padding alone has nothing to pool.
        small = pooling and point.get(KERNEL) == "1" and value != "0"
        return is_padded_by_hand(point) and not small

    found = [Axis(KERNEL, _KERNELS, "3")]
    found.append(attribute(operator, STRIDES, ("1", "2", "2, 1")))
    found.append(attribute(operator, DILATIONS, ("1", "2", "1, 2")))
    if auto_pad:
        ways = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
        found.append(attribute(operator, AUTO_PAD, ways))
    found.append(attribute(operator, PADS, tuple(_PADS), padded))
    found.append(Axis(TIGHT, (False, True), False))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Window:
    """A window over images of ``count`` spatial dimensions, and the attributes that state it."""

    count: int
    kernel: tuple[int, ...]
    strides: tuple[int, ...] | None
    dilations: tuple[int, ...] | None
    pads: tuple[int, ...] | None
    auto_pad: str | None

    @property
    def reach(self) -> tuple[int, ...]:
        """The extent of the dilated kernel."""
        spread = self.dilations or (1,) * self.count
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, spread, strict=True))

    @property
    def padding(self) -> tuple[int, ...]:
        """The sum of the padding at both ends, as far as ``pads`` state it."""
        pads = self.pads or (0,) * (2 * self.count)
        return tuple(pads[at] + pads[at + self.count] for at in range(self.count))

    def least(self) -> tuple[int, ...]:
        """The smallest sizes of an image that the window fits in."""
        sizes = zip(self.reach, self.padding, strict=True)
        return tuple(max(reach - padding, 1) for reach, padding in sizes)


def window(sketch: Sketch, count: int) -> Window:
    """The window at the axes of ``axes``."""

    def each(name: str) -> tuple[int, ...] | None:
        return cycled(numbers(sketch.text(name)), count) if sketch.has(name) else None

    pads = None
    if sketch.has(PADS):
        before, behind = _PADS[sketch.text(PADS)]
        pads = (*cycled(before, count), *cycled(behind, count))
    kernel = cycled(numbers(sketch.text(KERNEL)), count)
    stated = word(sketch, AUTO_PAD)
    return Window(count, kernel, each(STRIDES), each(DILATIONS), pads, stated)


_IMAGE = (7, 6, 5)


def image(sketch: Sketch, least: Sequence[int], *, fixed: bool = False) -> tuple[Dim, ...]:
    """The spatial dimensions of an image that a window fits in, exactly if ``tight``."""
    sizes = least if sketch.point.get(TIGHT) is True else _IMAGE[: len(least)]
    if fixed:
        return tuple(sizes)
    dims = tuple(sketch.symbol(at + 2, size) for at, size in enumerate(sizes))
    for dim, smallest in zip(dims, least, strict=True):
        if isinstance(dim, str):
            sketch.least[dim] = smallest
    return dims


def batch(sketch: Sketch, size: int = 2) -> Dim:
    """The batch: 1 or 0 if the point says so."""
    return sketch.symbol(0, {ONE: 1, NONE: 0}.get(str(sketch.point.get(SIZE)), size))
