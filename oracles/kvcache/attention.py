"""Dense attention in float64 over the keys that the model of a cache says are there.

The bound is for kernels that keep running maxima and sums in float32, whatever the dtype of the
cache, and that merge the results of up to ``PARTS`` separate passes, each rounded to that dtype.
With scores s_j, weights p_j = exp(s_j) / sum exp(s), and a result o = sum p_j v_j:

* A computed score is off by gamma(d + 4) sum |q||k| scale, and by what the rotation of q and k adds
  (Higham, *Accuracy and Stability*, section 3.1).
* A weight is off by the factor exp(ds_j), by one exponential and one product for every rescaling,
  of which there are at most n, and by the rounding of s_j - max, which counts with its size.
* With p_j (1 + e_j) in place of p_j, o moves by sum p_j e_j (v_j - o) / sum p_j (1 + e_j): common
  factors cancel. Sums of n terms add gamma(2 n) sum p_j |v_j|.
* Each pass and each merge rounds to the dtype: at most u sum p_j |v_j| each, since a pass's result,
  times its share of the weights, is no larger than its part of that sum.
"""

from dataclasses import dataclass

import numpy as np

from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.model import Attended
from relaxcheck.generators.kvcache.settings import INLINE, NORMAL
from relaxcheck.oracles.kvcache.rope import Array, rotated
from relaxcheck.oracles.reference.bounds import LIBM, gamma
from relaxcheck.oracles.reference.estimate import FORMATS

PARTS = 3
"""Passes whose results are merged: the new tokens, and two depths of shared prefixes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Values and the bounds of their errors, of one shape."""

    value: Array
    bound: Array


@dataclass(frozen=True, slots=True)
class Rows:
    """Queries (tokens, heads, head_dim), keys and values (tokens, kv_heads, head_dim)."""

    queries: Array
    keys: Array
    values: Array


def visible(part: Attended) -> Array:
    """The keys that each query of ``part`` sees: (queries, keys) of bool."""
    keys, queries = len(part.keys), len(part.queries)
    if part.parents is None:
        return np.tril(np.ones((queries, keys), np.bool_), keys - queries)
    nodes = len(part.parents)
    tree = np.zeros((nodes, nodes), np.bool_)
    for node, parent in enumerate(part.parents):
        if parent >= 0:
            tree[node] = tree[parent]
        tree[node, node] = True
    before = np.ones((queries, keys - nodes), np.bool_)
    return np.concatenate((before, tree[nodes - queries :]), axis=1)


def scale_of(case: KvCase) -> float:
    """The factor of scores: one over the root of the head dimension."""
    return float(case.model.head_dim**-0.5)


def cached_keys(case: KvCase, part: Attended, keys: Array) -> Answer:
    """The keys of ``part`` as the cache holds them: rotated where they are before caching."""
    if case.limits.rope != NORMAL:
        return Answer(keys.astype(np.float64), np.zeros(keys.shape))
    positions = np.array([token.position for token in part.keys])
    return Answer(*rotated(keys, positions, case.model))


def attention(case: KvCase, part: Attended, rows: Rows) -> Answer:
    """The result of each query of ``part``, (queries, heads, head_dim), and its bound."""
    model, unit = case.model, FORMATS["float32"].unit
    queries, q_error = _rotated_queries(case, part, rows.queries)
    keys, k_error = _rotated_keys(case, part, rows.keys)
    group = model.group
    keys, k_error, values = (
        np.repeat(each.astype(np.float64), group, axis=1) for each in (keys, k_error, rows.values)
    )
    scale = scale_of(case)
    scores = np.einsum("qhd,khd->hqk", queries, keys) * scale
    sizes = np.einsum("qhd,khd->hqk", np.abs(queries) + q_error, np.abs(keys) + k_error) * scale
    moved = sizes - np.einsum("qhd,khd->hqk", np.abs(queries), np.abs(keys)) * scale
    off = gamma(model.head_dim + 4, unit) * sizes + moved
    seen = visible(part)[None]
    scores = np.where(seen, scores, -np.inf)
    highest = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - highest)
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / total
    result = np.einsum("hqk,khd->qhd", weights, values)
    count = len(part.keys)
    spread = np.where(seen, highest - scores, 0.0)
    reach = np.abs(np.where(seen, scores, 0.0)).max(axis=-1, keepdims=True) + np.log(count) + 1
    # In base 2: rounding of s - m, and of the logarithms of sums that merges compare.
    shifted = 2 * unit * (spread + (PARTS + 1) * 2 * reach)
    factors = gamma((count + 2 * PARTS + 2) * (2 * LIBM + 2), unit)
    each = np.where(seen, np.expm1(off + shifted) * (1 + factors) + factors, 0.0)
    worst = each.max(axis=-1).transpose(1, 0)[:, :, None]
    # |v - o| per query, head and key is large; the triangle inequality would lose too much.
    apart = np.abs(values[None] - result[:, None])
    leaning = np.einsum("hqk,qkhd->qhd", weights * each, apart)
    size = np.einsum("hqk,khd->qhd", weights, np.abs(values))
    target = FORMATS[model.dtype]
    bound = np.where(worst < 0.5, leaning / np.maximum(1 - worst, 0.5), np.inf)
    bound += size * (gamma(2 * count + 20, unit) + (2 * PARTS) * target.unit)
    # Weights below the smallest normal number of float32, and results below that of the dtype.
    floor = FORMATS["float32"].floor * count * np.abs(values).max(initial=0.0)
    return Answer(result, bound + floor + (2 * PARTS) * target.smallest)


def _rotated_queries(case: KvCase, part: Attended, queries: Array) -> tuple[Array, Array]:
    if case.limits.rope not in (NORMAL, INLINE):
        return queries.astype(np.float64), np.zeros(queries.shape)
    positions = np.array([token.position for token in part.queries])
    return rotated(queries, positions, case.model)


def _rotated_keys(case: KvCase, part: Attended, keys: Array) -> tuple[Array, Array]:
    if case.limits.rope == INLINE:
        # Rotated where they lie now: a window moves tokens.
        return rotated(keys, np.arange(len(part.keys)), case.model)
    cached = cached_keys(case, part, keys)
    return cached.value, cached.bound
