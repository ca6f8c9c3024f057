"""Results that PyTorch's documentation leaves open, and others that it permits in their place.

Each function computes such a result for ``number`` 1, 2, …, one of a kind for each, where it is
open, and PyTorch's own elsewhere.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

Call = Callable[[Any, list[Any], dict[str, Any], int], Any]
"""Calls an operator on arguments and keywords; the last argument says which result is wanted."""

_REAL = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def _converted(operator: Any, arguments: list[Any], keywords: dict[str, Any], number: int) -> Any:
    """Conversion of a float without a value among the integers: undefined in C++."""
    result = operator(*arguments, **keywords)
    source = arguments[1] if operator._schema.is_mutable else arguments[0]
    if result.dtype in _REAL or result.dtype is torch.bool or result.is_complex():
        return result
    if source.dtype not in _REAL:
        return result
    limits = torch.iinfo(result.dtype)
    # Comparisons in float64 round the limits of int64 to powers of two, one of which is outside.
    wide = source.double().trunc()
    inside = (wide >= float(limits.min)) & (wide < float(limits.max) + (limits.bits < 64))
    return result.add_((~inside).to(result.dtype) * number)


def _shifted(operator: Any, arguments: list[Any], keywords: dict[str, Any], number: int) -> Any:
    """A shift by a negative number, or by as many bits as there are."""
    result = operator(*arguments, **keywords)
    if result.is_floating_point():
        return result
    bits = torch.iinfo(result.dtype).bits
    by = torch.as_tensor(arguments[1])
    return result.add_(((by < 0) | (by >= bits)).to(result.dtype) * number)


def _of_ties(operator: Any, arguments: list[Any], keywords: dict[str, Any], number: int) -> Any:
    """Which of equal elements comes first, or is the one whose index is returned."""
    named = {each.name: each.default_value for each in operator._schema.arguments}
    named |= dict(zip(named, arguments, strict=False)) | keywords
    source, dim = arguments[0], named.get("dim")
    if named.get("stable") or dim is None or source.dim() == 0:
        return operator(*arguments, **keywords)
    values, indices = operator(*arguments, **keywords)
    if operator.overloadpacket.__name__ == "sort":
        return _rotated(values, indices, dim)
    return values, _next_equal(source, values, indices, dim)


def _next_equal(
    source: torch.Tensor, values: torch.Tensor, indices: torch.Tensor, dim: int
) -> torch.Tensor:
    """The index of the element of ``source`` behind that of ``indices`` that equals ``values``."""
    if not indices.numel():
        return indices
    several = values.dim() == source.dim()
    source = source.movedim(dim, -1).unsqueeze(-2)
    shaped = [
        each.movedim(dim, -1) if several else each.reshape(*source.shape[:-2], -1)
        for each in (values, indices)
    ]
    value, index = (each.unsqueeze(-1) for each in shaped)
    equal = (value == source) | (value.isnan() & source.isnan())
    size = source.shape[-1]
    ahead = (torch.arange(size) - index - 1) % size
    found = torch.where(equal, ahead, size).argmin(-1)
    return found.movedim(-1, dim) if several else found.reshape(indices.shape)


def _rotated(values: torch.Tensor, indices: torch.Tensor, dim: int) -> tuple[torch.Tensor, ...]:
    """Sorted ``values`` and their ``indices``, each in the place of the equal one behind it.

    Of more than two equal elements another order may leave one where it is; this leaves none.
    """
    if not values.shape[dim]:
        return values, indices
    values, indices = values.movedim(dim, -1), indices.movedim(dim, -1)
    before, behind = values[..., :-1], values[..., 1:]
    begins = torch.ones_like(values, dtype=torch.bool)
    begins[..., 1:] = ~((before == behind) | (before.isnan() & behind.isnan()))
    places = torch.arange(values.shape[-1]).expand_as(indices)
    first = torch.where(begins, places, 0).cummax(-1).values
    ends = torch.cat([begins[..., 1:], torch.ones_like(begins[..., :1])], -1)
    taken = torch.where(ends, first, places + 1)
    return tuple(each.gather(-1, taken).movedim(-1, dim) for each in (values, indices))


def _scattered(operator: Any, arguments: list[Any], keywords: dict[str, Any], number: int) -> Any:
    """Which of several elements that are written to one place stays there."""
    dim, index, source = (arguments + [None] * 4)[1:4]
    if isinstance(source, torch.Tensor) and index.dim() and source.dim() == index.dim():
        # Elements of the source beyond the index are not used.
        used = source[tuple(slice(size) for size in index.shape)]
        arguments[2:4] = [index.flip(dim), used.flip(dim)]
    return operator(*arguments, **keywords)


def _copied(operator: Any, arguments: list[Any], keywords: dict[str, Any], number: int) -> Any:
    """As ``_scattered``, for whole slices."""
    dim, index, source = arguments[1:4]
    if index.dim() and source.dim():
        arguments[2:4] = [index.flip(0), source.flip(dim)]
    return operator(*arguments, **keywords)


def _put(operator: Any, arguments: list[Any], keywords: dict[str, Any], number: int) -> Any:
    """As ``_scattered``, by indices of one dimension, or of several that all have equal shapes."""
    _, indices, values = arguments[:3]
    found = [each for each in indices if each is not None]
    plain = all(each.dtype is torch.int64 and each.dim() == 1 for each in found)
    lengths = {each.shape for each in found}
    if not plain or len(lengths) != 1 or indices[0] is None:
        return operator(*arguments, **keywords)
    if values.dim() and values.shape[0] == found[0].shape[0]:
        flipped = [None if each is None else each.flip(0) for each in indices]
        rank = arguments[0].dim() - len(found) + 1
        if len(found) == len(indices) and values.dim() == rank:
            arguments[1:3] = [flipped, values.flip(0)]
    return operator(*arguments, **keywords)


def _empty(operator: Any, arguments: list[Any], keywords: dict[str, Any], number: int) -> Any:
    """The elements of memory that nothing wrote."""
    result = operator(*arguments, **keywords)
    return result.fill_(math.nan if result.is_floating_point() or result.is_complex() else number)


LATITUDE: Mapping[str, Call] = {
    **dict.fromkeys(("_to_copy", "copy_"), _converted),
    **dict.fromkeys(
        (
            *("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__"),
            *("bitwise_left_shift_", "bitwise_right_shift_", "__ilshift__", "__irshift__"),
        ),
        _shifted,
    ),
    **dict.fromkeys(("sort", "topk", "kthvalue", "median", "nanmedian", "mode"), _of_ties),
    **dict.fromkeys(("scatter", "scatter_"), _scattered),
    **dict.fromkeys(("index_copy", "index_copy_"), _copied),
    **dict.fromkeys(("index_put", "index_put_", "_index_put_impl_"), _put),
    **dict.fromkeys(
        (
            "empty",
            "empty_like",
            "empty_strided",
            "new_empty",
            "new_empty_strided",
            "empty_permuted",
        ),
        _empty,
    ),
}
"""By the name of the operator's packet."""


_SUMS = frozenset(
    (
        *("sum", "mean", "mm", "bmm", "addmm", "baddbmm", "addmv", "mv", "dot", "convolution"),
        *("cumsum", "linear", "addbmm"),
    )
)


def overflowing(
    operator: Any, arguments: list[Any], keywords: dict[str, Any]
) -> torch.Tensor | None:
    """The sums of float16 some order of which overflows; None where there is none.

    PyTorch adds in float32, and need not: its documentation promises no wider accumulator.
    """
    first = next((each for each in arguments if isinstance(each, torch.Tensor)), None)
    name = operator.overloadpacket.__name__
    if name not in _SUMS or first is None or first.dtype is not torch.float16:
        return None
    if keywords.get("dtype", torch.float16) is not torch.float16:
        return None
    wide = [_magnitude(each) for each in arguments]
    keywords = {key: _magnitude(value) for key, value in keywords.items() if key != "dtype"}
    total = operator(*wide, **keywords)
    if name == "mean":
        total = total * (first.numel() / max(total.numel(), 1))
    over = total >= torch.finfo(torch.float16).max
    return over if bool(over.any()) else None


def _magnitude(value: Any) -> Any:
    """The magnitudes of a tensor; 0 for infinities, which decide a sum in every order."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.double().abs().nan_to_num(0.0, 0.0, 0.0)
