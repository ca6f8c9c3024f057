"""The reference's Einstein summation.

A correct implementation may multiply and add in any order, and sum an operand along an axis of its
own before it is multiplied. With n terms of k factors, every element of the result then comes from
at most n + k roundings along any path (Higham, lemma 3.1), whose relative error multiplies the sum
of the magnitudes of the terms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import text
from relaxcheck.oracles.reference.averages import total
from relaxcheck.oracles.reference.estimate import FORMATS, OWN_UNIT, Estimate, ordinary, unknown
from relaxcheck.oracles.reference.evaluation import operator, same_dtype
from relaxcheck.oracles.reference.operators.movement import moved

_Label = str | int
"""A letter, or the number of an axis without a name, counted from the last one."""

_Term = tuple[_Label, ...]


@dataclass(frozen=True, slots=True)
class _Sum:
    """The labels of each operand and of the result; no operand has one of size 1 for another size.

    ``sizes`` are by label, those of the result in its order.
    """

    terms: tuple[_Term, ...]
    result: _Term
    sizes: dict[_Label, int]

    @property
    def count(self) -> int:
        """The number of terms of each sum."""
        return prod(size for label, size in self.sizes.items() if label not in self.result)

    def of(self, *arrays: Array) -> Array:
        """The sum of the products of ``arrays``."""
        if not self.count:
            # NumPy leaves a result without terms as memory was.
            shape = tuple(self.sizes[label] for label in self.result)
            return np.zeros(shape, np.result_type(*arrays))
        number = {label: at for at, label in enumerate(self.sizes)}
        arguments: list[Any] = []
        for array, term in zip(arrays, self.terms, strict=True):
            arguments += [array, [number[label] for label in term]]
        value: Array = np.asarray(np.einsum(*arguments, [number[label] for label in self.result]))
        return value


@operator("einsum")
def _einsum(node: Node, operands: list[Estimate]) -> Estimate:
    dtype = same_dtype(node, operands)
    read = _read(text(node, "subscripts"), [each.value.ndim for each in operands])
    plan, kept = _planned(*read, operands)
    if dtype not in FORMATS:
        whole = bounds.wrapped(plan.of(*(each.value for each in kept)), dtype)
        return bounds.unconstrain(whole, _touched(plan, kept))
    if len(kept) == 1:
        return _of_one(plan, kept[0])
    shared = set(plan.terms[0]) & set(plan.terms[-1])
    if len(kept) == 2 and all(label in shared for label in {*plan.sizes} - {*plan.result}):
        return bounds.sum_of_products(kept[0], kept[1], plan.of, dtype)
    return _in_any_order(plan, kept, dtype)


def _of_one(plan: _Sum, operand: Estimate) -> Estimate:
    """A diagonal, another order and a sum: nothing is multiplied."""
    summed = tuple(label for label in plan.sizes if label not in plan.result)
    ordered = _Sum(plan.terms, (*plan.result, *summed), plan.sizes)
    elements = moved(operand, lambda each: ordered.of(each).copy())
    first = len(plan.result)
    axes = tuple(range(first, first + len(summed)))
    return total(elements, axes, False) if summed else elements


def _in_any_order(plan: _Sum, operands: Sequence[Estimate], dtype: str) -> Estimate:
    target, steps = FORMATS[dtype], plan.count + len(operands)
    finite = [ordinary(each) for each in operands]
    sizes = [np.abs(each.value).astype(np.float64) for each in finite]
    reaches = [size + each.error for size, each in zip(sizes, finite, strict=True)]
    ones = [np.ones(each.shape) for each in sizes]
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        magnitude = plan.of(*reaches)
        error = magnitude - plan.of(*sizes)
        error = error + (bounds.gamma(steps, target.unit) + bounds.gamma(steps, OWN_UNIT)) * (
            magnitude
        )
        over = np.zeros(magnitude.shape, np.bool_)
        exact: Array = np.full(magnitude.shape, _are_whole(finite))
        for chosen in _subsets(len(operands)):
            # A product of these alone, and what is multiplied with its underflow.
            inside = [each[at in chosen] for at, each in enumerate(zip(ones, reaches, strict=True))]
            beside = [each[at in chosen] for at, each in enumerate(zip(reaches, ones, strict=True))]
            partial = plan.of(*inside)
            error = error + steps * target.floor * plan.of(*beside)
            over |= ~(partial * (1 + bounds.gamma(steps, target.unit)) <= target.largest)
            exact = exact & (partial <= 2.0**target.precision)
        value = plan.of(*(each.value for each in finite))
    result = Estimate(value, np.where(exact, 0.0, error), dtype)
    touched = _touched(plan, operands)
    if not plan.count and any(unknown(each).any() for each in operands):
        # An operand summed by itself is 0, which may then be multiplied by infinity.
        touched = np.ones(touched.shape, np.bool_)
    return bounds.unconstrain(result, touched | (over & ~exact))


def _are_whole(operands: Sequence[Estimate]) -> bool:
    """True if all elements are integers: sums of their products are, too."""
    fractions = (each.error + np.abs(each.value - np.rint(each.value)) for each in operands)
    return not any(each.any() for each in fractions)


def _subsets(count: int) -> list[tuple[int, ...]]:
    """The subsets of ``count`` operands that have an element."""
    return [each for size in range(count) for each in combinations(range(count), size + 1)]


def _touched(plan: _Sum, operands: Sequence[Estimate]) -> Array:
    """Flag the elements that an operand's NaN, infinite or unconstrained element is part of."""
    flags = [unknown(each).astype(np.float64) for each in operands]
    touched: Array = np.zeros(tuple(plan.sizes[label] for label in plan.result), np.bool_)
    for own, flag in enumerate(flags):
        if flag.any():
            ones = [np.ones(each.shape) for each in flags]
            touched = touched | (plan.of(*ones[:own], flag, *ones[own + 1 :]) > 0)
    return touched


def _read(subscripts: str, ranks: Sequence[int]) -> tuple[list[_Term], _Term]:
    """The labels of each operand and of the result.

    Raises:
        ValueError: the equation is none, or not one of such operands.
    """
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    texts = left.split(",")
    if len(texts) != len(ranks):
        raise ValueError(f"einsum: {len(ranks)} operands for the terms of {subscripts!r}")
    terms = [_labels(term, rank) for term, rank in zip(texts, ranks, strict=True)]
    used = [label for term in terms for label in term]
    unnamed = sorted({label for label in used if isinstance(label, int)})
    if not arrow:
        letters = sorted(label for label in used if isinstance(label, str))
        return terms, (*unnamed, *(each for each in letters if letters.count(each) == 1))
    result: list[_Label] = []
    before, dots, after = right.partition("...")
    result += [*before, *(unnamed if dots else ()), *after]
    if len(set(result)) != len(result) or not set(result) <= set(used):
        raise ValueError(f"einsum: the result of {subscripts!r} repeats a label, or has a new one")
    return terms, tuple(result)


def _labels(term: str, rank: int) -> _Term:
    before, dots, after = term.partition("...")
    letters = before + after
    if letters and not (letters.isascii() and letters.isalpha()):
        raise ValueError(f"einsum: {term!r} has more than letters and an ellipsis")
    rest = rank - len(letters)
    if rest < 0 or (rest and not dots):
        raise ValueError(f"einsum: {term!r} for a tensor of rank {rank}")
    return (*before, *range(-rest, 0), *after)


def _planned(
    terms: Sequence[_Term], result: _Term, operands: Sequence[Estimate]
) -> tuple[_Sum, list[Estimate]]:
    """The sum over operands that have lost axes of size 1 along which they are repeated."""
    sizes: dict[_Label, int] = {}
    for term, each in zip(terms, operands, strict=True):
        for label, size in zip(term, each.value.shape, strict=True):
            known = sizes.get(label, 1)
            if known != size and 1 not in (known, size):
                raise ValueError(f"einsum: {label} has the sizes {known} and {size}")
            sizes[label] = known if size == 1 else size
    kept, shorter = [], []
    for term, each in zip(terms, operands, strict=True):
        gone = [
            axis
            for axis, (label, size) in enumerate(zip(term, each.value.shape, strict=True))
            if size != sizes[label]
        ]
        kept.append(moved(each, lambda array, gone=gone: np.squeeze(array, tuple(gone))))  # type: ignore[misc]
        shorter.append(tuple(label for axis, label in enumerate(term) if axis not in gone))
    return _Sum(tuple(shorter), result, sizes), kept
