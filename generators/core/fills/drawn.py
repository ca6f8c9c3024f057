"""Fills for operators whose results only some values decide: samples, ranks and boxes.

Random words make their values. All are dyadic and exact in float16, and no two that an operator
compares are equal.
"""

from typing import Any, assert_never

import msgspec
import numpy as np
from numpy.typing import NDArray

PARTS = 256
"""A ``Distribution`` divides 1 into so many equal parts."""


class _Fill(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all: written as JSON."""


class Distribution(_Fill, frozen=True, tag="distribution"):
    """Probabilities along the last axis: multiples of 1/256 that add up to 1, some of them 0."""


class BetweenParts(_Fill, frozen=True, tag="between-parts"):
    """Odd multiples of 1/512 between 0 and 1: no sum of a ``Distribution`` equals one."""


class Ranked(_Fill, frozen=True, tag="ranked"):
    """Numbers between ``low`` and ``high``, no two on a line along the last axis equal.

    None is ``low`` plus a multiple of an eighth of the distance.
    """

    low: float = 0.0
    high: float = 1.0


class Boxes(_Fill, frozen=True, tag="boxes"):
    """Boxes along the last axis, of four sixteenths each: two opposite corners.

    Sides are 1, 4, 7 or 10 sixteenths, so that areas are 1 modulo 3 and no quotient of
    intersection and union is 1/8, 1/5, 1/2, 4/5 or 7/8 (1/2 would be three intersections in the
    sum of two areas). One box in eight equals the first one. ``turned``: either diagonal, either
    corner first; otherwise the lower corner comes first.
    """

    turned: bool = False


class Detections(_Fill, frozen=True, tag="detections"):
    """Rows along the last axis: a class, a score and a box, at these places.

    A class is a number from ``lowest`` to 1; -1 for ``identity`` leaves it out. Scores are
    ``Ranked`` along the axis before the last, from 0 to 1. Boxes are those of ``Boxes``, not
    turned. Elements at other places are sixteenths.
    """

    identity: int
    score: int
    corners: int
    lowest: int = 0


Drawn = Distribution | BetweenParts | Ranked | Boxes | Detections


Words = NDArray[np.uint64]
Numbers = NDArray[np.float64]

_SIXTEENTH = 1 / 16

_SIDES = np.array([1, 4, 7, 10])

_FINEST = 3
"""The least power of two of steps between ranked numbers."""


def filled(fill: Drawn, words: Words) -> Numbers:
    """Values in the shape of ``words``, one word for each.

    Where the shape is that of a wrong call and holds no boxes, the numbers are sixteenths.
    """
    match fill:
        case Distribution():
            return _distribution(words)
        case BetweenParts():
            return _numbers(2 * _below(words, PARTS) + 1) / (2 * PARTS)
        case Ranked(low=low, high=high):
            return low + (high - low) * _ranked(words)
        case Boxes(turned=turned):
            return _boxes(words, turned=turned)
        case Detections():
            return _detections(fill, words)
        case _:
            assert_never(fill)


def _numbers(whole: NDArray[Any]) -> Numbers:
    return np.asarray(whole, np.float64)


def _below(words: Words, limit: int, shift: int = 32) -> NDArray[np.int64]:
    return ((words >> np.uint64(shift)) % np.uint64(limit)).astype(np.int64)


def _distribution(words: Words) -> Numbers:
    """The distances between sorted cuts of the whole into parts; equal cuts leave nothing."""
    cuts = np.sort(_below(words[..., 1:], PARTS + 1), axis=-1)
    ends = [(0, 0)] * (words.ndim - 1) + [(1, 1)]
    padded = np.pad(cuts, ends, constant_values=[(0, PARTS)])
    parts = np.diff(padded, axis=-1)[..., : words.shape[-1]]
    return _numbers(parts) / PARTS


def _ranked(words: Words) -> Numbers:
    """Odd multiples of a power of two from 0 to 1, in a random order."""
    size = words.shape[-1]
    steps: int = 2 ** max(_FINEST, (size - 1).bit_length())
    ranks = np.argsort(np.argsort(words, axis=-1, kind="stable"), axis=-1, kind="stable")
    # Ranks are spread over all steps.
    spread = ranks * steps // max(size, 1)
    return _numbers(2 * spread + 1) / (2 * steps)


def _boxes(words: Words, *, turned: bool) -> Numbers:
    """Corners (a, b, c, d) of boxes from (a, b) to (c, d)."""
    if not words.size or words.ndim < 2 or words.shape[-1] != 4:
        return _numbers(_below(words, 32)) * _SIXTEENTH
    low = _below(words[..., :2], 8)
    high = low + _SIDES[_below(words[..., 2:], len(_SIDES))]
    corners = np.concatenate([low, high], axis=-1)
    alike = _below(words[..., :1], 8, shift=16) == 0
    corners = np.where(alike, corners[..., :1, :], corners)
    if turned:
        for axis in (0, 1):
            swaps = _below(words[..., axis + 2 : axis + 3], 2, shift=20) == 1
            other = corners.copy()
            other[..., [axis, axis + 2]] = corners[..., [axis + 2, axis]]
            corners = np.where(swaps, other, corners)
    return _numbers(corners) * _SIXTEENTH


def _detections(fill: Detections, words: Words) -> Numbers:
    rows = _numbers(_below(words, 32) - 16) * _SIXTEENTH
    rows[..., fill.score] = _ranked(words[..., fill.score])
    if fill.corners >= 0:
        box = slice(fill.corners, fill.corners + 4)
        rows[..., box] = _boxes(words[..., box], turned=False)
    if fill.identity >= 0:
        rows[..., fill.identity] = fill.lowest + _below(words[..., fill.identity], 2 - fill.lowest)
    return rows
