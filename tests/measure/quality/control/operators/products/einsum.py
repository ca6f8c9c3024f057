"""Einstein's summation: one term after the other, each a product of one element of each operand."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import Array, Type, one_dtype, operator, refuse, text
from tests.measure.quality.control.summation import Freedom, Term, reduced, summed


def _letters(node: Node, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand and of the result; digits are axes without names."""
    left, arrow, right = text(node, "subscripts", "").replace(" ", "").partition("->")
    terms = left.split(",")
    if not all(letter.isalpha() for letter in (left + right).replace("...", "").replace(",", "")):
        raise refuse(node, f"a character of {left!r}, or of the output, is no label")
    if len(terms) != len(ranks):
        raise refuse(node, f"{len(terms)} terms for {len(ranks)} operands")
    rests = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    most = max((rest for term, rest in zip(terms, rests, strict=True) if "..." in term), default=0)
    digits = "0123456789"[:most]
    written = [
        term.replace("...", digits[most - max(rest, 0) :])
        for term, rest in zip(terms, rests, strict=True)
    ]
    for term, rank in zip(written, ranks, strict=True):
        if len(term) != rank or not all(letter.isalnum() for letter in term):
            raise refuse(node, f"{term!r} for a tensor of rank {rank}")
    used = "".join(written)
    result = right.replace("...", digits)
    if not arrow:
        once = (letter for letter in sorted(set(used)) if used.count(letter) == 1)
        result = digits + "".join(letter for letter in once if letter not in digits)
    if len(set(result)) != len(result) or not set(result) <= set(used):
        raise refuse(node, f"the result {result!r} of {used!r}")
    return written, result


def _sizes(node: Node, terms: Sequence[str], shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for letter, size in zip(term, shape, strict=True):
            if sizes.get(letter, 1) == 1:
                sizes[letter] = size
            elif size not in (1, sizes[letter]):
                raise refuse(node, f"{letter} has the sizes {sizes[letter]} and {size}")
    return sizes


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    terms, result = _letters(node, [each.rank for each in operands])
    sizes = _sizes(node, terms, [each.shape for each in operands])
    return Type(tuple(sizes[letter] for letter in result), one_dtype(node, operands))


@operator("einsum", _infer)
def _einsum(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    terms, result = _letters(node, [each.ndim for each in operands])
    sizes = _sizes(node, terms, [each.shape for each in operands])
    kept = tuple(sizes[letter] for letter in result)
    lost = [letter for letter in sizes if letter not in result]
    grid = dict(zip(result, np.indices(kept, np.int64), strict=True))
    factors: list[list[Array]] = []
    for places in product(*(range(sizes[letter]) for letter in lost)):
        place: dict[str, Any] = {**grid, **dict(zip(lost, places, strict=True))}
        factors.append([_picked(*each, place, kept) for each in zip(operands, terms, strict=True)])
    dtype = operands[0].dtype
    if not factors:
        return np.zeros(kept, dtype)
    if len(operands) == 1:
        stacked = np.stack([first for (first,) in factors])
        return stacked[0] if not lost else reduced(stacked, freedom)
    products = [Term(_multiplied(each[:-1]), each[-1]) for each in factors]
    return summed(products, kept, dtype, freedom)


def _picked(x: Array, term: str, place: dict[str, Any], shape: tuple[int, ...]) -> Array:
    """The elements of ``x`` at ``place``, in the result's ``shape``; repeated along a size of 1."""
    index = tuple(
        place[letter] if size > 1 else np.minimum(place[letter], 0)
        for letter, size in zip(term, x.shape, strict=True)
    )
    return np.broadcast_to(x[index], shape)


def _multiplied(factors: Sequence[Array]) -> Array:
    result = factors[0]
    for each in factors[1:]:
        result = (result * each).astype(result.dtype)
    return result
