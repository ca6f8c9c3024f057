"""Attention and sums computed with NumPy in a narrow dtype, every operation rounded to it."""

from collections.abc import Iterable

import numpy as np

from generators.values import Array, numpy_dtype


def dot(a: Array, b: Array, order: Iterable[int]) -> Array:
    """``a @ b`` summed one product after the other in ``order``, in the operands' dtype."""
    total = np.zeros((*a.shape[:-1], b.shape[-1]), a.dtype)
    for i in order:
        total = (total + a[..., :, i : i + 1] * b[..., i : i + 1, :]).astype(a.dtype)
    return total


def pairwise(a: Array) -> Array:
    """The sum over the last axis, halves first, in the dtype of ``a``."""
    if a.shape[-1] <= 1:
        return np.asarray(a.sum(axis=-1, dtype=a.dtype))
    middle = a.shape[-1] // 2
    return (pairwise(a[..., :middle]) + pairwise(a[..., middle:])).astype(a.dtype)


def attention(
    q: Array,
    k: Array,
    v: Array,
    bias: Array | None,
    scale: float | None,
    seen: Array,
    *,
    divide_last: bool,
    backwards: bool,
) -> Array:
    """BSNH attention with every step in the operands' dtype; heads must be equal in number."""
    dtype = q.dtype
    step = -1 if backwards else 1
    q, k, v = (each.transpose(0, 2, 1, 3) for each in (q, k, v))
    s = dot(q, k.swapaxes(-1, -2), range(q.shape[-1])[::step])
    if scale is None:
        s = (s / np.sqrt(np.array(q.shape[-1], dtype)).astype(dtype)).astype(dtype)
    else:
        s = (s * np.array(scale, dtype)).astype(dtype)
    if bias is not None:
        s = (s + bias).astype(dtype)
    lowest = np.array(-np.inf, dtype)
    top = np.where(seen, s, lowest).max(axis=-1, keepdims=True, initial=-np.inf).astype(dtype)
    top = np.where(np.isfinite(top.astype(np.float64)), top, np.zeros((), dtype))
    shifted = np.where(seen, (s - top).astype(dtype), np.zeros((), dtype))
    e = np.where(seen, np.exp(shifted).astype(dtype), np.zeros((), dtype))
    keys = range(e.shape[-1])[::step]
    total = dot(e, np.ones((e.shape[-1], 1), dtype), keys)
    total = np.where(total > 0, total, np.ones((), dtype))
    if divide_last:
        out = (dot(e, v, keys) / total).astype(dtype)
    else:
        out = dot((e / total).astype(dtype), v, keys)
    return out.transpose(0, 2, 1, 3)


def narrowed(array: Array, dtype: str) -> Array:
    """``array`` rounded to ``dtype``."""
    return array.astype(numpy_dtype(dtype))
