"""Axes of windows that slide over spatial axes, and the places that they have."""

from collections.abc import Iterator, Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import Fits, at_least
from relaxcheck.generators.core.points import integer
from relaxcheck.generators.core.polynomials import minus, over, plus

LETTERS = {1: "w", 2: "hw", 3: "dhw"}
"""The spatial axes of each rank."""

FAMILIAR_KERNEL = 3
"""The size along each axis of the convolutions that people meet."""
FAMILIAR_POOL = 2
"""The size along each axis of the pooling that people meet."""


def spatial_fits(shape: Sequence[Dim]) -> bool:
    """Return True if no static dimension but the batch is 0."""
    return all(at_least(dim, 1) for dim in shape[1:])


def _reach(kernel: int, dilation: int) -> int:
    return dilation * (kernel - 1) + 1


def window_axes(
    rank: int,
    *,
    kernels: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[int],
    familiar: int,
    half: bool = False,
) -> Iterator[Axis]:
    """Size, stride, dilation and padding of a window along each spatial axis.

    Any reachable point leaves the window a place. ``half``: padding is at most half a window.
    People use windows of size ``familiar``.
    """  # fmt: skip
    for at, letter in enumerate(LETTERS[rank], start=2):

        def most(kernel: int) -> int:
            return min(max(pads), kernel // 2) if half else max(pads)

        def kernel_fits(shape: Sequence[Dim], kernel: int, at: int = at) -> bool:
            return at_least(plus(shape[at], 2 * most(kernel)), kernel)

        def dilation_fits(shape: Sequence[Dim], kernel: int, value: int, at: int = at) -> bool:
            return at_least(plus(shape[at], 2 * most(kernel)), _reach(kernel, value))

        def begin_fits(
            shape: Sequence[Dim], kernel: int, dilation: int, value: int, at: int = at
        ) -> bool:
            wide = plus(shape[at], value, most(kernel))
            return value <= most(kernel) and at_least(wide, _reach(kernel, dilation))

        def end_fits(
            shape: Sequence[Dim], kernel: int, dilation: int, begin: int, value: int, at: int = at
        ) -> bool:
            wide = plus(shape[at], begin, value)
            return value <= most(kernel) and at_least(wide, _reach(kernel, dilation))

        k, d, b = f"kernel.{letter}", f"dilation.{letter}", f"pad_begin.{letter}"
        yield Axis(k, tuple(kernels), 2, Fits(kernel_fits), familiar=(familiar,))
        yield Axis(f"stride.{letter}", tuple(strides), 1)
        yield Axis(d, tuple(dilations), 1, Fits(dilation_fits, (k,)), default_weight=2)
        yield Axis(b, tuple(pads), 0, Fits(begin_fits, (k, d)))
        yield Axis(f"pad_end.{letter}", tuple(pads), 0, Fits(end_fits, (k, d, b)))


def along(point: Point, name: str, rank: int) -> tuple[int, ...]:
    """The values of the axes ``name.h``, ``name.w``, ..."""
    return tuple(integer(point, f"{name}.{letter}") for letter in LETTERS[rank])


def places(draft: Draft, value: Value, point: Point, rank: int) -> tuple[Dim, ...]:
    """The number of places of the window at ``point`` along each spatial axis of ``value``.

    It is ``(size + pads - dilation * (kernel - 1) - 1) // stride + 1``. Require it to be 1 or more.

    Raises:
        Unfit: a static axis has no place for the window.
    """
    names = ("kernel", "stride", "dilation", "pad_begin", "pad_end")
    lists = (along(point, name, rank) for name in names)
    counts: list[Dim] = []
    for dim, kernel, stride, dilation, begin, end in zip(value.shape[2:], *lists, strict=True):
        free = minus(plus(dim, begin, end), _reach(kernel, dilation))
        draft.require(free)
        counts.append(plus(over(free, stride), 1))
    return tuple(counts)
