"""Masks of ``nn.attention``: boolean arrays, True where a query sees a key.

The meanings and their sources are in ``MEANINGS.md``.
"""

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

CAUSAL_MASKS = (None, "TopLeft", "BottomRight")


def offset(queries: int, keys: int, causal_mask: str | None) -> int:
    """The shift of the diagonal to the right.

    Raises:
        ValueError: ``causal_mask`` is none of ``CAUSAL_MASKS``.
    """
    if causal_mask not in CAUSAL_MASKS:
        raise ValueError(f"causal_mask {causal_mask!r} is unknown")
    return abs(queries - keys) if causal_mask == "BottomRight" else 0


def visible(
    queries: int, keys: int, causal_mask: str | None = None, window_size: int | None = None
) -> Mask:
    """The mask of one attention, shape (queries, keys).

    Key j is visible to query i where ``j <= i + offset`` (with a causal mask) and
    ``j > i + offset - window_size`` (with a window).

    Raises:
        ValueError: an unknown ``causal_mask``, or a ``window_size`` below 1.
    """
    shift = offset(queries, keys, causal_mask)
    if window_size is not None and window_size < 1:
        raise ValueError(f"window_size {window_size} is below 1")
    query = np.arange(queries)[:, None] + shift
    key = np.arange(keys)[None, :]
    seen = np.ones((queries, keys), np.bool_)
    if causal_mask is not None:
        seen &= key <= query
    if window_size is not None:
        seen &= key > query - window_size
    return seen


def visible_within(
    starts_q: NDArray[np.int64],
    starts_k: NDArray[np.int64],
    queries: int,
    keys: int,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> Mask:
    """The mask of sequences laid end to end, shape (queries, keys): none sees another.

    Sequence n has the queries ``starts_q[n]:starts_q[n + 1]`` and the keys
    ``starts_k[n]:starts_k[n + 1]``, and is masked by its own lengths.

    Raises:
        ValueError: as ``visible``; offsets of different count, decreasing or out of range.
    """
    check_starts(starts_q, starts_k, queries, keys)
    seen = np.zeros((queries, keys), np.bool_)
    for n in range(len(starts_q) - 1):
        q = slice(int(starts_q[n]), int(starts_q[n + 1]))
        k = slice(int(starts_k[n]), int(starts_k[n + 1]))
        seen[q, k] = visible(q.stop - q.start, k.stop - k.start, causal_mask, window_size)
    return seen


def check_starts(
    starts_q: NDArray[np.int64], starts_k: NDArray[np.int64], queries: int, keys: int
) -> None:
    """Raise ``ValueError`` unless both are the bounds of equally many sequences in range."""
    if starts_q.ndim != 1 or starts_q.shape != starts_k.shape or len(starts_q) < 1:
        raise ValueError("seqstart_q and seqstart_k must be vectors of the same length >= 1")
    for name, starts, total in (("q", starts_q, queries), ("k", starts_k, keys)):
        if starts[0] < 0 or starts[-1] > total or (np.diff(starts) < 0).any():
            raise ValueError(f"seqstart_{name} does not increase within 0..{total}")
