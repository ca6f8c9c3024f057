"""The operators of ATen whose results no rounding changes."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch

_EXACT = frozenset(
    (
        # Copies, and movement of elements.
        *("_to_copy", "clone", "copy", "lift_fresh_copy", "cat", "stack", "index", "index_select"),
        *("gather", "take", "where", "masked_select", "masked_fill", "masked_scatter", "fill"),
        *("index_put", "_index_put_impl", "_unsafe_index", "index_fill", "index_copy", "scatter"),
        *("slice_scatter", "select_scatter", "diagonal_scatter", "flip", "roll", "repeat", "tril"),
        *("triu", "constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d"),
        *("replication_pad1d", "replication_pad2d", "replication_pad3d", "repeat_interleave"),
        *("embedding", "pixel_shuffle", "pixel_unshuffle", "im2col", "block_diag", "diag_embed"),
        *("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "channel_shuffle"),
        *("_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"),
        *("_pin_memory", "alias_copy", "zero", "rot90", "_local_scalar_dense", "item"),
        *("broadcast_tensors", "meshgrid", "_pack_padded_sequence", "expand_copy", "view_copy"),
        # Choices among elements.
        *("max", "min", "amax", "amin", "aminmax", "maximum", "minimum", "fmax", "fmin"),
        *("argmax", "argmin", "sort", "topk", "kthvalue", "median", "nanmedian", "mode", "msort"),
        *(
            "cummax",
            "cummin",
            "_cummax_helper",
            "_cummin_helper",
            "clamp",
            "clamp_min",
            "clamp_max",
        ),
        *("max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d"),
        *("adaptive_max_pool3d", "fractional_max_pool2d", "fractional_max_pool3d", "max_unpool2d"),
        *("max_unpool3d", "relu", "relu6", "hardtanh", "threshold", "_unique2", "unique_dim"),
        *("unique_consecutive", "nonzero", "unique"),
        # Comparisons, signs, steps.
        *("eq", "ne", "lt", "le", "gt", "ge", "equal", "isnan", "isinf", "isfinite", "isposinf"),
        *("isneginf", "signbit", "sign", "sgn", "heaviside", "logical_and", "logical_or"),
        *("logical_xor", "logical_not", "any", "all", "count_nonzero", "searchsorted", "bucketize"),
        *("_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors"),
        *(
            "isin",
            "is_nonzero",
            "histc",
            "bincount",
            "histogram",
            "_histogramdd_bin_edges",
            "abs",
            "neg",
            "positive",
            "copysign",
        ),
        *("floor", "ceil", "trunc", "fix", "round", "frexp", "nan_to_num", "nextafter"),
        *("floor_divide", "_assert_async", "_assert_scalar", "_assert_tensor_metadata"),
    )
)
"""By the name of the packet, without the underscore of the form in place."""


@cache
def is_exact(operator: Any) -> bool:
    """True if ``operator`` gives elements of its operands, what they decide, or constants."""
    name = operator.overloadpacket.__name__
    if operator._overloadname == "decimals":
        # It rounds to a number of decimals: scales, rounds, and scales back.
        return False
    if name in _EXACT or name.removesuffix("_") in _EXACT or operator.is_view:
        return True
    if name in _COMPUTED:
        return False
    formal = operator._schema.arguments
    return not any("Tensor" in str(each.type) for each in formal) or name.endswith(_FACTORIES)


_COMPUTED = frozenset(
    (
        *("linspace", "logspace", "arange", "range", "bartlett_window", "blackman_window"),
        *("hamming_window", "hann_window", "kaiser_window"),
    )
)
"""Operators that compute elements of numbers alone, in an order of their own."""

_FACTORIES = ("_like", "new_zeros", "new_ones", "new_full", "new_empty", "new_empty_strided")


def accumulates(operator: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
    """True if a call of ``operator``, which writes elements, adds them to those that are there."""
    names = [each.name for each in operator._schema.arguments]
    named = dict(zip(names, arguments, strict=False)) | dict(keywords)
    return named.get("accumulate") is True or "reduce" in named


_SHARP = frozenset(("pow", "fmod", "remainder", "float_power", "__rpow__"))
"""Operators of two operands that leap, or end, at numbers that programs are full of."""


@cache
def mixes(operator: Any) -> bool:
    """True if roundings in ``operator`` are as large as those of its operands.

    Functions of a number round their results alone, and are not to be left by a rounding of it.
    """
    name = operator.overloadpacket.__name__.removesuffix("_")
    tensors = sum("Tensor" in str(each.type) for each in operator._schema.arguments)
    return name not in _SHARP and (tensors > 1 or torch.Tag.pointwise not in operator.tags)
