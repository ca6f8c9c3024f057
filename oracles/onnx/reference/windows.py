"""Windows that slide over spatial axes, by the attributes that convolutions and poolings share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import Call

Sizes = tuple[int, ...]


def steps(call: Call, name: str, rank: int) -> Sizes:
    """The attribute ``name``, one number for each axis; 1 where it is absent."""
    value = call.attribute(name)
    return tuple(value) if value else (1,) * rank


def padding_of(
    call: Call, sizes: Sequence[int], taps: Sizes, strides: Sizes, dilations: Sizes
) -> tuple[Sizes, Sizes]:
    """The padding before and after each axis, stated or by ``auto_pad``."""
    rank, mode = len(taps), call.attribute("auto_pad")
    if mode in ("NOTSET", None, ""):
        pads = call.attribute("pads") or (0,) * (2 * rank)
        return tuple(pads[:rank]), tuple(pads[rank:])
    if mode == "VALID":
        return (0,) * rank, (0,) * rank
    before, after = [], []
    for size, tap, stride, dilation in zip(sizes, taps, strides, dilations, strict=True):
        places = -(-size // stride)
        extent = (tap - 1) * dilation + 1
        needed = max((places - 1) * stride + extent - size, 0)
        less, more = needed // 2, needed - needed // 2
        first, last = (less, more) if mode == "SAME_UPPER" else (more, less)
        before.append(first)
        after.append(last)
    return tuple(before), tuple(after)


@dataclass(frozen=True, slots=True)
class Window:
    """A window of ``taps`` that has ``places`` along each axis, all within padded data."""

    taps: Sizes
    strides: Sizes
    dilations: Sizes
    before: Sizes
    after: Sizes
    places: Sizes

    def slide(self, data: Array, fill: float) -> Iterator[tuple[Sizes, Array]]:
        """Each tap, with the elements that it meets: leading axes, places."""
        rank = len(self.taps)
        ends = [
            (n - 1) * s + (k - 1) * d + 1
            for n, s, k, d in zip(self.places, self.strides, self.taps, self.dilations, strict=True)
        ]
        pads = [
            (b, max(end - b - size, 0))
            for b, end, size in zip(self.before, ends, data.shape[-rank:], strict=True)
        ]
        wide = np.pad(data, [(0, 0)] * (data.ndim - rank) + pads, constant_values=fill)
        for tap in product(*map(range, self.taps)):
            at: Any = tuple(
                slice(k * d, k * d + (n - 1) * s + 1, s) if n else slice(0)
                for k, d, n, s in zip(tap, self.dilations, self.places, self.strides, strict=True)
            )
            yield tap, wide[(..., *at)]

    def padded(self, sizes: Sequence[int]) -> Array:
        """1 for each element and each of the stated padding; 0 beyond."""
        ones = np.ones(
            [n + b + a for n, b, a in zip(sizes, self.before, self.after, strict=True)], np.int64
        )
        shifted = Window(
            self.taps, self.strides, self.dilations, (0,) * len(self.taps), self.after, self.places
        )
        return np.asarray(sum(each for _, each in shifted.slide(ones, 0)))


def pool_window(call: Call, sizes: Sizes) -> Window:
    """The window of a pooling of data of spatial ``sizes``.

    With ``ceil_mode`` the last window may reach beyond the padding; one that begins there is left
    out, as versions since 22 say (earlier ones say nothing of it).
    """
    taps: Sizes = tuple(call.attribute("kernel_shape"))
    rank = len(taps)
    if rank != len(sizes):
        raise ValueError(f"a kernel over {rank} axes of {len(sizes)}")
    strides, dilations = steps(call, "strides", rank), steps(call, "dilations", rank)
    before, after = padding_of(call, sizes, taps, strides, dilations)
    ceil = call.flag("ceil_mode")
    places = []
    for size, tap, stride, dilation, first, last in zip(
        sizes, taps, strides, dilations, before, after, strict=True
    ):
        room = size + first + last - ((tap - 1) * dilation + 1)
        count = (-(-room // stride) if ceil else room // stride) + 1
        if ceil and call.attribute("auto_pad") == "VALID" and count != -(-(room + 1) // stride):
            # The schema's formula for this has one place less than that for stated padding.
            raise ValueError("auto_pad VALID with ceil_mode, where a window reaches beyond the end")
        if ceil and (count - 1) * stride >= size + first:
            if call.since < 22:
                raise ValueError("a last window that begins in the padding")
            count -= 1
        if count < 1:
            raise ValueError(f"a window of {taps} has no place in {sizes}")
        places.append(count)
    return Window(taps, strides, dilations, before, after, tuple(places))
