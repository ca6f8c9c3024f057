"""Windows over spatial axes, by the attributes that convolutions and pools share."""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm import te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import within
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.tvm_api import PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/windows.py")

Dims = Sequence[PrimExpr]

_PADDINGS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


@dataclass(frozen=True, slots=True)
class Window:
    """A window of ``taps`` along each spatial axis.

    ``pads`` before and then after each axis; None where the sizes decide them: ``lower`` is then
    True if the odd one goes before. ``ceil``: the last window may reach beyond the padding.
    """

    taps: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...] | None
    lower: bool = False
    ceil: bool = False

    @property
    def rank(self) -> int:
        """The number of spatial axes."""
        return len(self.taps)

    def extent(self, axis: int) -> int:
        """The elements from the first tap along ``axis`` up to the last."""
        return (self.taps[axis] - 1) * self.dilations[axis] + 1

    def padding(self, axis: int, size: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
        """The padding before and after ``axis``, whose data have ``size``."""
        if self.pads is not None:
            before, after = self.pads[axis], self.pads[axis + self.rank]
            return tvm_api.integer(before), tvm_api.integer(after)
        stride, extent = self.strides[axis], self.extent(axis)
        places = tvm_api.floordiv(size + tvm_api.integer(stride - 1), stride)
        reach = (places - tvm_api.integer(1)) * tvm_api.integer(stride) + tvm_api.integer(extent)
        needed = tirx.max(reach - size, tvm_api.integer(0))
        less = tvm_api.floordiv(needed, 2)
        return (needed - less, less) if self.lower else (less, needed - less)

    def places(self, axis: int, size: PrimExpr) -> PrimExpr:
        """The number of windows along ``axis``.

        With ``ceil``, a window that begins behind the data and the padding before is left out.
        """
        before, after = self.padding(axis, size)
        stride = self.strides[axis]
        room = size + before + after - tvm_api.integer(self.extent(axis))
        if not self.ceil:
            return _known(tvm_api.floordiv(room, stride) + tvm_api.integer(1))
        count = tvm_api.floordiv(room + tvm_api.integer(stride - 1), stride) + tvm_api.integer(1)
        last = tvm_api.floordiv(size + before - tvm_api.integer(1), stride) + tvm_api.integer(1)
        return _known(tirx.min(count, last))

    def position(self, axis: int, size: PrimExpr, place: PrimExpr, tap: PrimExpr) -> PrimExpr:
        """The index along ``axis`` of ``tap`` of the window at ``place``."""
        before, _ = self.padding(axis, size)
        stride, dilation = self.strides[axis], self.dilations[axis]
        return place * tvm_api.integer(stride) + tap * tvm_api.integer(dilation) - before

    def reduce_axes(self) -> list[PrimExpr]:
        """The axes of a reduction over the taps."""
        return [
            te.reduce_axis((0, tvm_api.integer(tap)), f"k{axis}")
            for axis, tap in enumerate(self.taps)
        ]

    def read(
        self, source: Tensor, leading: Dims, places: Dims, taps: Dims, fill: PrimExpr
    ) -> PrimExpr:
        """The element of ``source`` at ``taps`` of the window at ``places``; ``fill`` outside."""
        sizes = source.shape[len(leading) :]
        at = [
            self.position(axis, sizes[axis], places[axis], taps[axis]) for axis in range(self.rank)
        ]
        inside = [within(index, size) for index, size in zip(at, sizes, strict=True)]
        return tirx.if_then_else(tirx.all(*inside), source[(*leading, *at)], fill)

    @property
    def static_pads(self) -> list[int] | None:
        """The padding before and then after each axis, None if the sizes decide it."""
        return None if self.pads is None else list(self.pads)


def _known(dim: PrimExpr) -> PrimExpr:
    """``dim``, as a number where it is one."""
    value = tvm_api.as_int(dim)
    return dim if value is None else tvm_api.integer(value)


def read_window(node: Node, taps: Sequence[int] | None, sizes: Dims) -> Window:
    """The window of ``node``, of the attribute kernel_shape or else of ``taps``.

    ``sizes`` are those of the spatial axes of the data.

    Raises:
        ValueError: an attribute is missing or invalid.
    """
    rank = len(sizes)
    stated = node.attribute("kernel_shape")
    kernel = [int(tap) for tap in (stated or taps or ())]
    if taps is not None and kernel != list(taps):
        raise invalid(node.operator, f"W has {list(taps)}", kernel_shape=kernel)
    if len(kernel) != rank or not all(tap > 0 for tap in kernel):
        why = f"it must have {rank} numbers greater than 0"
        raise invalid(node.operator, why, kernel_shape=kernel or None)
    strides = _numbers(node, "strides", rank, [1] * rank, 1)
    dilations = _numbers(node, "dilations", rank, [1] * rank, 1)
    mode = operands.choice(node, "auto_pad", "NOTSET", _PADDINGS)
    pads: tuple[int, ...] | None = (0,) * (2 * rank)
    if mode == "NOTSET":
        pads = _numbers(node, "pads", 2 * rank, [0] * (2 * rank), 0)
    elif mode != "VALID":
        pads = None
    ceil = operands.flag(node, "ceil_mode")
    window = Window(tuple(kernel), strides, dilations, pads, mode == "SAME_LOWER", ceil)
    return _settled(node, window, sizes)


def _settled(node: Node, window: Window, sizes: Dims) -> Window:
    """``window`` with its padding in numbers, where the sizes are numbers.

    Raises:
        ValueError: there is no place for it.
    """
    known = list(map(tvm_api.as_int, sizes))
    for axis, size in enumerate(known):
        if size is None:
            continue
        places = tvm_api.as_int(window.places(axis, tvm_api.integer(size)))
        if places is not None and places < 1 and size > 0:
            shown = {"kernel_shape": list(window.taps), "dilations": list(window.dilations)}
            raise invalid(node.operator, f"there is no place in {known}", **shown)
    if window.pads is not None or None in known:
        return window
    pairs = [window.padding(axis, size) for axis, size in enumerate(sizes)]
    pads = [tvm_api.as_int(pair[side]) or 0 for side in (0, 1) for pair in pairs]
    return Window(window.taps, window.strides, window.dilations, tuple(pads), False, window.ceil)


def _numbers(
    node: Node, name: str, count: int, default: Sequence[int], least: int
) -> tuple[int, ...]:
    values = tuple(int(value) for value in node.attribute(name, None) or default)
    if len(values) != count or min(values) < least:
        why = f"it must have {count} numbers from {least} on"
        raise invalid(node.operator, why, **{name: list(values)})
    return values
