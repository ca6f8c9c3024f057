"""Sums and products in a dtype, in a drawn order: each order is a correct implementation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

LANES = 4
"""Partial sums of the order ``lanes``, as of a vector register."""


@dataclass(frozen=True, slots=True)
class Term:
    """A product to be summed: of ``a`` and ``b``, broadcast; only where ``present`` says so."""

    a: Array
    b: Array
    present: Array | None = None


class Freedom:
    """The choices of a correct implementation, drawn from ``seed``, the same every time."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.Generator(np.random.Philox(seed))

    def choice(self, among: Sequence[str]) -> str:
        """One of ``among``."""
        return among[int(self._random.integers(len(among)))]

    def flags(self, shape: Sequence[int]) -> Array:
        """An array of truth values."""
        return self._random.integers(2, size=tuple(shape)).astype(np.bool_)

    def permutation(self, count: int) -> list[int]:
        """The numbers below ``count`` in some order."""
        return [int(number) for number in self._random.permutation(count)]


Ordered = Callable[[Sequence[Term], Array], Array]
"""Sums terms onto zeros of the result's shape and dtype."""

WIDER: dict[str, Any] = {
    "float16": np.float32,
    "bfloat16": np.float32,
    "float32": np.float64,
    "float64": np.longdouble,
}


def summed(terms: Sequence[Term], shape: Sequence[int], dtype: Any, freedom: Freedom) -> Array:
    """The sum of ``terms``, an array of ``shape``, every operation rounded to ``dtype``.

    The order is drawn; so is whether products and sums are kept in a wider dtype until the end,
    for float32 whether each product is added unrounded (a fused multiply-add), and whether the sum
    starts with a zero or with the first product.
    """
    dtype = np.dtype(dtype)
    terms = [_cast(term, dtype) for term in terms]
    everywhere = any(term.present is None for term in terms)
    first = everywhere and freedom.choice(("zero", "first")) == "first"
    kind = freedom.choice(_KINDS if dtype.name in WIDER else _IN_DTYPE)
    if kind == "wide":
        wider = np.dtype(WIDER[dtype.name])
        wide = [_cast(term, wider) for term in terms]
        return _in_turn(wide, _start(shape, wider, first)).astype(dtype)
    start = _start(shape, dtype, first)
    if kind == "fused" and dtype == np.float32:
        return _fused(terms, start)
    if kind in ("reverse", "shuffled"):
        count = len(terms)
        order = range(count)[::-1] if kind == "reverse" else freedom.permutation(count)
        terms = [terms[at] for at in order]
    if kind == "pairwise":
        return start + _pairwise(terms) if terms else start
    return _lanes(terms, start) if kind == "lanes" else _in_turn(terms, start)


def reduced(values: Array, freedom: Freedom, combine: Any = np.add) -> Array:
    """The sum of ``values`` over their first axis, in their dtype and in a drawn order.

    ``combine`` is ``np.multiply`` for the product. The whole may also be kept in a wider dtype and
    rounded once.
    """
    dtype = values.dtype
    if not len(values):
        return np.full(values.shape[1:], combine.identity, dtype)
    if dtype.kind in "iu":
        return combine.reduce(values, axis=0, dtype=dtype)
    kind = freedom.choice((*_IN_DTYPE, "wide") if dtype.name in WIDER else _IN_DTYPE)
    if kind == "wide":
        return _last(combine, values.astype(WIDER[dtype.name])).astype(dtype)
    if kind == "pairwise":
        return _halved(combine, values)
    if kind == "lanes":
        lanes = [values[lane::LANES] for lane in range(min(LANES, len(values)))]
        return _last(combine, np.stack([_last(combine, each) for each in lanes]))
    if kind == "reverse":
        values = values[::-1]
    elif kind == "shuffled":
        values = values[freedom.permutation(len(values))]
    return _last(combine, values)


def running(values: Array, freedom: Freedom, combine: Any = np.add) -> Array:
    """The sums of the first 1, 2, … of ``values`` along their first axis, in their dtype.

    Each is taken one after the other, also in a wider dtype, or in blocks: the sum of the blocks
    before plus that within the block.
    """
    dtype = values.dtype
    if not len(values) or dtype.kind in "iu":
        return combine.accumulate(values, axis=0, dtype=dtype)
    kind = freedom.choice(("forward", "blocks", *(["wide"] if dtype.name in WIDER else [])))
    if kind == "wide":
        return combine.accumulate(values.astype(WIDER[dtype.name]), axis=0).astype(dtype)
    if kind == "forward":
        return combine.accumulate(values, axis=0)
    before, parts = None, []
    for first in range(0, len(values), LANES):
        own = combine.accumulate(values[first : first + LANES], axis=0)
        parts.append(own if before is None else combine(before, own))
        before = parts[-1][-1]
    return np.concatenate(parts)


def _last(combine: Any, values: Array) -> Array:
    """All of ``values`` combined one after the other, each step rounded to their dtype."""
    result: Array = combine.accumulate(values, axis=0)[-1]
    return result


def _halved(combine: Any, values: Array) -> Array:
    """Neighbours first, then neighbouring results, until one is left."""
    while len(values) > 1:
        paired = combine(values[: len(values) // 2 * 2 : 2], values[1::2])
        values = np.concatenate([paired, values[len(values) // 2 * 2 :]])
    return values[0]


_IN_DTYPE = ("forward", "reverse", "shuffled", "pairwise", "lanes")
_KINDS = (*_IN_DTYPE, "wide", "fused")


def _cast(term: Term, dtype: Any) -> Term:
    if term.a.dtype == dtype and term.b.dtype == dtype:
        return term
    return Term(term.a.astype(dtype), term.b.astype(dtype), term.present)


def _nothing(dtype: Any) -> Array:
    """The neutral element of sums: x + -0 is x, also where x is -0."""
    zero = np.zeros((), dtype)
    return zero if dtype.kind in "iu" else np.asarray(np.negative(zero))


def _start(shape: Sequence[int], dtype: Any, first: bool) -> Array:
    return np.full(shape, _nothing(dtype) if first else np.zeros((), dtype))


def _kept(values: Array, present: Array | None) -> Array:
    """``values`` where there is one, else what changes no sum."""
    return values if present is None else np.where(present, values, _nothing(values.dtype))


def _product(term: Term) -> Array:
    return _kept(term.a * term.b, term.present)


def _in_turn(terms: Sequence[Term], total: Array) -> Array:
    for term in terms:
        total = total + _product(term)
    return total


def _fused(terms: Sequence[Term], total: Array) -> Array:
    for term in terms:
        # Two 24-bit factors give an exact double; the sum then rounds once, but for 2**-64.
        product = term.a.astype(np.float64) * term.b.astype(np.float64)
        exact = _kept(product, term.present).astype(np.longdouble)
        total = (total.astype(np.longdouble) + exact).astype(total.dtype)
    return total


def _lanes(terms: Sequence[Term], total: Array) -> Array:
    for lane in range(LANES):
        own = np.full_like(total, _nothing(total.dtype))
        total = total + _in_turn(terms[lane::LANES], own)
    return total


def _pairwise(terms: Sequence[Term]) -> Array:
    if len(terms) == 1:
        return _product(terms[0])
    middle = len(terms) // 2
    return _pairwise(terms[:middle]) + _pairwise(terms[middle:])
