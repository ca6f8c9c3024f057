"""Sums, transposed convolutions and attention in NumPy, every operation rounded to the dtype."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from relaxcheck.generators.core.values import Array, numpy_dtype

Order = Callable[[Array], Array]
"""Adds up the terms along the first axis, each addition rounded to their dtype."""


def forward(terms: Array) -> Array:
    """One after the other."""
    total = np.zeros(terms.shape[1:], terms.dtype)
    for term in terms:
        total = (total + term).astype(terms.dtype)
    return total


def backward(terms: Array) -> Array:
    """One after the other, the last one first."""
    return forward(terms[::-1])


def shuffled(terms: Array) -> Array:
    """In an order that has nothing to do with the terms."""
    return forward(terms[np.random.default_rng(0).permutation(len(terms))])


def pairwise(terms: Array) -> Array:
    """Halves first."""
    if len(terms) <= 1:
        return forward(terms)
    middle = len(terms) // 2
    return (pairwise(terms[:middle]) + pairwise(terms[middle:])).astype(terms.dtype)


def peaking(terms: Array) -> Array:
    """Largest first, so that partial sums grow as large as they can before they shrink."""
    order = np.argsort(-terms.astype(np.float64), axis=0, kind="stable")
    return forward(np.take_along_axis(terms, order, axis=0))


ORDERS: dict[str, Order] = {
    each.__name__: each for each in (forward, backward, shuffled, pairwise, peaking)
}


def matmul_terms(a: Array, b: Array) -> Array:
    """The products that ``a @ b`` sums, (inner, ..., rows, columns)."""
    return np.moveaxis(a[..., :, :, None] * b[..., None, :, :], -2, 0).astype(a.dtype)


def conv_transpose_terms(
    data: Array,
    kernel: Array,
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    *,
    stuffed: bool = False,
) -> Array:
    """The products that a transposed convolution of canonical operands sums.

    Shape (channels of a group * taps, batch, output channels, spatial). ``stuffed``: with products
    of the taps and zeros put between and around the data; otherwise what does not contribute is 0.
    """
    rank, (batch, channels, *size) = len(strides), data.shape
    taps, wide = kernel.shape[2:], kernel.shape[1]
    inner = channels // groups
    out = [
        (n - 1) * s - padding[r] - padding[rank + r] + d * (k - 1) + 1 + e
        for r, (n, s, d, k, e) in enumerate(
            zip(size, strides, dilation, taps, output_padding, strict=True)
        )
    ]
    unconstrained = [
        max((n - 1) * s + d * (k - 1) + 1, padding[r] + o)
        for r, (n, s, d, k, o) in enumerate(zip(size, strides, dilation, taps, out, strict=True))
    ]
    crop = tuple(slice(padding[r], padding[r] + out[r]) for r in range(rank))
    x = data.reshape(batch, groups, inner, *size)
    w = kernel.reshape(groups, inner, wide, *taps)
    terms = []
    for channel, *tap in product(range(inner), *map(range, taps)):
        at = tuple(
            slice(k * d, k * d + n * s, s)
            for k, d, n, s in zip(tap, dilation, size, strides, strict=True)
        )
        weight = w[(slice(None), channel, slice(None), *tap)].reshape(1, groups, wide, *[1] * rank)
        values = x[:, :, channel, None]
        if stuffed:
            spread = np.zeros((batch, groups, 1, *unconstrained), data.dtype)
            spread[(..., *at)] = values
            term = (spread * weight).astype(data.dtype)
        else:
            term = np.zeros((batch, groups, wide, *unconstrained), data.dtype)
            term[(..., *at)] = (values * weight).astype(data.dtype)
        terms.append(term[(..., *crop)].reshape(batch, groups * wide, *out))
    return np.stack(terms)


def between_taps(kernel: Array, dilation: Sequence[int]) -> Array:
    """``kernel`` (I, O / groups, spatial) with the zeros that stand for its dilation put in."""
    taps = kernel.shape[2:]
    span = [d * (k - 1) + 1 for d, k in zip(dilation, taps, strict=True)]
    spread = np.zeros((*kernel.shape[:2], *span), kernel.dtype)
    spread[(..., *(slice(None, None, d) for d in dilation))] = kernel
    return spread


def attention(
    q: Array,
    k: Array,
    v: Array,
    bias: Array | None,
    scale: float | None,
    seen: Array,
    *,
    divide_last: bool,
    summed: Order,
    scale_first: bool = False,
    multiply_hidden: bool = False,
) -> Array:
    """BSNH attention with every step in the operands' dtype; heads must be equal in number.

    ``scale_first`` multiplies both operands by the square root of the scale. ``multiply_hidden``
    adds -infinity to the scores that are not visible and leaves their keys in; otherwise they are
    left out.
    """
    dtype = q.dtype
    q, k, v = (each.transpose(0, 2, 1, 3) for each in (q, k, v))
    zero = np.zeros((), dtype)
    if scale_first:
        factor = q.shape[-1] ** -0.5 if scale is None else scale
        root = np.sqrt(np.array(factor, dtype)).astype(dtype)
        q, k = ((each * root).astype(dtype) for each in (q, k))
    s = summed(matmul_terms(q, k.swapaxes(-1, -2)))
    if not scale_first:
        if scale is None:
            s = (s / np.sqrt(np.array(q.shape[-1], dtype)).astype(dtype)).astype(dtype)
        else:
            s = (s * np.array(scale, dtype)).astype(dtype)
    if bias is not None:
        s = (s + bias).astype(dtype)
    lowest = np.array(-np.inf, dtype)
    if multiply_hidden:
        s = (s + np.where(seen, zero, lowest)).astype(dtype)
        used = np.ones_like(seen)
    else:
        s = np.where(seen, s, lowest)
        used = seen
    top = s.astype(np.float64).max(axis=-1, keepdims=True, initial=-np.inf).astype(dtype)
    top = np.where(top == lowest, zero, top)
    e = np.where(used, np.exp((s - top).astype(dtype)).astype(dtype), zero)
    total = summed(np.moveaxis(e, -1, 0))[..., None]
    total = np.where(total == 0, np.ones((), dtype), total)
    if divide_last:
        out = (summed(_weighted(e, v, used)) / total).astype(dtype)
    else:
        out = summed(_weighted((e / total).astype(dtype), v, used))
    return out.transpose(0, 2, 1, 3)


def _weighted(weights: Array, values: Array, used: Array) -> Array:
    """The products of each key's weight and value, (keys, ..., queries, dim)."""
    used = np.broadcast_to(used, weights.shape)
    terms = matmul_terms(weights, values)
    return np.where(np.moveaxis(used, -1, 0)[..., None], terms, np.zeros((), weights.dtype))


def narrowed(array: Array, dtype: str) -> Array:
    """``array`` rounded to ``dtype``."""
    return array.astype(numpy_dtype(dtype))
