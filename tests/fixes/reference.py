"""The fixed operators as explicit NumPy loops in float64."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def logical(array: Array, layout: str, order: str) -> Array:
    """``array`` stored in ``layout`` ("NCHW4c") as a plain array with its axes in ``order``."""
    names = [letter for letter in layout if letter.isalpha()]
    axes, shape = [], []
    for name in order:
        axes.append(names.index(name))
        extent = array.shape[names.index(name)]
        if name.lower() in names:
            axes.append(names.index(name.lower()))
            extent *= array.shape[names.index(name.lower())]
        shape.append(extent)
    return array.transpose(axes).reshape(shape)


def stored(array: Array, layout: str, order: str) -> Array:
    """The inverse of ``logical``: a plain array with axes in ``order`` as stored in ``layout``."""
    factors: dict[str, int] = {}
    names, number = [], ""
    for letter in layout:
        if letter.isdigit():
            number += letter
            continue
        if letter.islower():
            factors[letter.upper()] = int(number)
            number = ""
        names.append(letter)
    split_names, shape = [], []
    for name, extent in zip(order, array.shape, strict=True):
        if name in factors:
            split_names += [name, name.lower()]
            shape += [extent // factors[name], factors[name]]
        else:
            split_names.append(name)
            shape.append(extent)
    return array.reshape(shape).transpose([split_names.index(name) for name in names])


def conv_transpose(
    data: Array,
    kernel: Array,
    strides: Sequence[int],
    padding: Sequence[int],
    output_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Array:
    """Scatters each input element to the outputs that it reaches; data is NC..., kernel IO...."""
    rank = len(strides)
    size = [
        (data.shape[2 + a] - 1) * strides[a]
        - padding[a]
        - padding[a + rank]
        + dilation[a] * (kernel.shape[2 + a] - 1)
        + 1
        + output_padding[a]
        for a in range(rank)
    ]
    out_per_group = kernel.shape[1]
    in_per_group = kernel.shape[0] // groups
    out = np.zeros((data.shape[0], out_per_group * groups, *size))
    for i in itertools.product(*map(range, data.shape[2:])):
        for k in itertools.product(*map(range, kernel.shape[2:])):
            o = [i[a] * strides[a] + k[a] * dilation[a] - padding[a] for a in range(rank)]
            if any(not 0 <= o[a] < size[a] for a in range(rank)):
                continue
            for g in range(groups):
                channels = slice(g * in_per_group, (g + 1) * in_per_group)
                outs = slice(g * out_per_group, (g + 1) * out_per_group)
                out[(slice(None), outs, *o)] += data[(slice(None), channels, *i)].astype(
                    np.float64
                ) @ kernel[(channels, slice(None), *k)].astype(np.float64)
    return out


def attention(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> Array:
    """One query position of one head at a time; BSNH."""
    batch, q_len, heads, head_dim = query.shape
    kv_len, group = key.shape[1], heads // key.shape[2]
    scale = head_dim**-0.5 if scale is None else scale
    offset = abs(q_len - kv_len) if causal_mask == "BottomRight" else 0
    out = np.zeros((batch, q_len, heads, value.shape[3]))
    for b, i, h in itertools.product(range(batch), range(q_len), range(heads)):
        seen = [
            j
            for j in range(kv_len)
            if (causal_mask is None or j <= i + offset)
            and (window_size is None or j > i + offset - window_size)
        ]
        if not seen:
            continue
        scores = key[b, seen, h // group].astype(np.float64) @ query[b, i, h].astype(np.float64)
        scores *= scale
        if bias is not None:
            whole = np.broadcast_to(bias, (batch, heads, q_len, kv_len))
            scores += whole[b, h, i, seen].astype(np.float64)
        weights = np.exp(scores - scores.max())
        out[b, i, h] = weights @ value[b, seen, h // group].astype(np.float64) / weights.sum()
    return out


def attention_var_len(
    query: Array,
    key: Array,
    value: Array,
    query_starts: Sequence[int],
    key_starts: Sequence[int],
    scale: float | None = None,
    causal_mask: str | None = None,
    window_size: int | None = None,
) -> Array:
    """Each sequence on its own."""
    out = np.zeros((*query.shape[:3], value.shape[3]))
    for s in range(len(query_starts) - 1):
        q = slice(query_starts[s], query_starts[s + 1])
        k = slice(key_starts[s], key_starts[s + 1])
        out[:, q] = attention(
            query[:, q], key[:, k], value[:, k], None, scale, causal_mask, window_size
        )
    return out
