"""Tensor layouts such as "NHWC" and "NCHW4c", as index arithmetic.

An upper-case letter is a primal axis. A number and a lower-case letter are the inner part of that
letter's axis, split by the number. The logical index along C of "NCHW4c" is ``C*4 + c``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.tvm_api import PrimExpr

UPSTREAM = NewFile("relax/op/layouts.py")

_TOKEN = re.compile(r"([A-Z])|(\d+)([a-z])")


@dataclass(frozen=True, slots=True)
class Layout:
    """The axes of a tensor in storage order: (upper-case letter, split factor, 0 for primal)."""

    text: str
    axes: tuple[tuple[str, int], ...]

    def factor(self, letter: str) -> int:
        """The factor that splits the axis ``letter``; 1 if it is not split."""
        return max((split for axis, split in self.axes if axis == letter), default=0) or 1

    def logical(self, position: Sequence[PrimExpr]) -> dict[str, PrimExpr]:
        """The index along each logical axis, from an index for each storage axis.

        Works for extents only if no axis is split; see ``extents``.
        """
        dims: dict[str, PrimExpr] = {}
        for (axis, split), index in zip(self.axes, position, strict=True):
            if not split:
                dims[axis] = index * self.factor(axis) + dims.get(axis, 0)
            else:
                dims[axis] = index + dims.get(axis, 0)
        return dims

    def extents(self, shape: Sequence[PrimExpr]) -> dict[str, PrimExpr]:
        """The extent of each logical axis of a tensor of ``shape``."""
        sizes: dict[str, PrimExpr] = {}
        for (axis, _), extent in zip(self.axes, shape, strict=True):
            sizes[axis] = sizes[axis] * extent if axis in sizes else extent
        return sizes

    def storage(self, index: Mapping[str, PrimExpr]) -> list[PrimExpr]:
        """The storage index of the element at the logical ``index``."""
        return [
            tvm_api.floormod(index[axis], split)
            if split
            else tvm_api.floordiv(index[axis], self.factor(axis))
            for axis, split in self.axes
        ]


def parse(text: str, letters: str) -> Layout:
    """Parse ``text`` as a layout over exactly the primal axes ``letters``.

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
