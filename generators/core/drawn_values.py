"""The values of ``drawn`` fills, made from random words."""

from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from relaxcheck.generators.core.drawn import (
    PARTS,
    BetweenParts,
    Boxes,
    Detections,
    Distribution,
    Drawn,
    Ranked,
)

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
            return (2 * _below(words, PARTS) + 1) / (2.0 * PARTS)
        case Ranked(low=low, high=high):
            return low + (high - low) * _ranked(words)
        case Boxes(turned=turned):
            return _boxes(words, turned=turned)
        case Detections():
            return _detections(fill, words)
        case _:
            assert_never(fill)


def _below(words: Words, limit: int, shift: int = 32) -> NDArray[np.int64]:
    return ((words >> np.uint64(shift)) % np.uint64(limit)).astype(np.int64)


def _distribution(words: Words) -> Numbers:
    """The distances between sorted cuts of the whole into parts; equal cuts leave nothing."""
    cuts = np.sort(_below(words[..., 1:], PARTS + 1), axis=-1)
    ends = [(0, 0)] * (words.ndim - 1) + [(1, 1)]
    padded = np.pad(cuts, ends, constant_values=[(0, PARTS)])
    return np.diff(padded, axis=-1)[..., : words.shape[-1]] / PARTS


def _ranked(words: Words) -> Numbers:
    """Odd multiples of a power of two from 0 to 1, in a random order."""
    size = words.shape[-1]
    steps = 2 ** max(_FINEST, (size - 1).bit_length())
    ranks = np.argsort(np.argsort(words, axis=-1, kind="stable"), axis=-1, kind="stable")
    # Ranks are spread over all steps.
    spread = ranks * steps // max(size, 1)
    return (2.0 * spread + 1) / (2 * steps)


def _boxes(words: Words, *, turned: bool) -> Numbers:
    """Corners (a, b, c, d) of boxes from (a, b) to (c, d)."""
    if not words.size or words.ndim < 2 or words.shape[-1] != 4:
        return _below(words, 32) * _SIXTEENTH
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
    return corners * _SIXTEENTH


def _detections(fill: Detections, words: Words) -> Numbers:
    rows: Any = (_below(words, 32) - 16) * _SIXTEENTH
    rows[..., fill.score] = _ranked(words[..., fill.score])
    if fill.corners >= 0:
        box = slice(fill.corners, fill.corners + 4)
        rows[..., box] = _boxes(words[..., box], turned=False)
    if fill.identity >= 0:
        rows[..., fill.identity] = fill.lowest + _below(words[..., fill.identity], 2 - fill.lowest)
    numbers: Numbers = rows
    return numbers
