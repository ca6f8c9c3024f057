"""Tensor layouts such as "NHWC" and "NCHW4c", as index arithmetic.

An upper-case letter is a primal axis; a number and a lower-case letter are the inner part of the
axis of that letter, split by the number. The logical index along C of "NCHW4c" is ``C*4 + c``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fixes import tvm_api
from fixes.tvm_api import PrimExpr

_TOKEN = re.compile(r"([A-Z])|(\d+)([a-z])")


@dataclass(frozen=True, slots=True)
class Layout:
    """The axes of a tensor in storage order: (upper-case letter, split factor, 0 for primal)."""

    text: str
    axes: tuple[tuple[str, int], ...]

    def factor(self, letter: str) -> int:
        """The factor that the axis ``letter`` is split by, 1 where it is whole."""
        return max((split for axis, split in self.axes if axis == letter), default=0) or 1

    def logical(self, position: Sequence[PrimExpr]) -> dict[str, PrimExpr]:
        """The index, or the extent, along each logical axis, given one for each storage axis.

        Extents multiply out in the same way as indices only where the axis is whole; see
        ``extents`` for them.
        """
        found: dict[str, PrimExpr] = {}
        for (axis, split), index in zip(self.axes, position, strict=True):
            if not split:
                found[axis] = index * self.factor(axis) + found.get(axis, 0)
            else:
                found[axis] = index + found.get(axis, 0)
        return found

    def extents(self, shape: Sequence[PrimExpr]) -> dict[str, PrimExpr]:
        """The extent of each logical axis of a tensor of ``shape``."""
        found: dict[str, PrimExpr] = {}
        for (axis, _), extent in zip(self.axes, shape, strict=True):
            found[axis] = found[axis] * extent if axis in found else extent
        return found

    def storage(self, index: Mapping[str, PrimExpr]) -> list[PrimExpr]:
        """Where the element at the logical ``index`` is stored."""
        return [
            tvm_api.floormod(index[axis], split)
            if split
            else tvm_api.floordiv(index[axis], self.factor(axis))
            for axis, split in self.axes
        ]


def parse(text: str, letters: str) -> Layout:
    """The layout that ``text`` writes, over exactly the primal axes ``letters``.

    Raises:
        ValueError: not a layout, other axes, an axis twice, or a factor below 1.
    """
    axes: list[tuple[str, int]] = []
    end = 0
    for token in _TOKEN.finditer(text):
        if token.start() != end:
            break
        end = token.end()
        primal, number, inner = token.groups()
        axes.append((primal, 0) if primal else (inner.upper(), int(number)))
        if inner and int(number) < 1:
            raise ValueError(f"the factor of {inner!r} in {text!r} is not positive")
    if end != len(text):
        raise ValueError(f"{text!r} cannot be read from {text[end:]!r} on")
    if sorted(axis for axis, split in axes if not split) != sorted(letters):
        raise ValueError(f"{text!r} must have each of the axes {', '.join(letters)} once")
    inner_axes = [axis for axis, split in axes if split]
    if len(set(inner_axes)) != len(inner_axes) or not set(inner_axes) <= set(letters):
        raise ValueError(f"{text!r} splits an axis twice, or one that it does not have")
    return Layout(text, tuple(axes))
