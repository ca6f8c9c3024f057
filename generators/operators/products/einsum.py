"""Einstein's summation: products of elements, summed along the axes that the result does not name.

Letters name axes. The same letter twice in a term is a diagonal, a letter of two operands pairs
their elements; ``...`` stands for axes without names, which broadcast.
"""

from collections.abc import Sequence
from typing import Any

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.faults import Fault, with_attributes
from relaxcheck.generators.core.operand import RANK, FitsDims
from relaxcheck.generators.core.points import Given, text, toggle
from relaxcheck.generators.core.program import Attribute as Written
from relaxcheck.generators.core.program import Program
from relaxcheck.generators.operators.choices import INTEGERS, extent
from relaxcheck.generators.operators.faults import RANKS, SHAPES, argument_grown, argument_rank
from relaxcheck.generators.operators.record import FLOATS, Attribute, Numerics, Operand, Operator

_NAME = "einsum"
_ELLIPSIS = "..."
_LABELS = ("subscript", "label", "equation", "einsum")

_SUBSCRIPTS = (
    # Two matrices, of which the result is named or follows from the letters.
    *("ij,jk->ik", "ij,jk", "ij,kj->ik", "ij,jk->ki", "Ab,bC", "ij,ij->ij", "ij,ij->", "ij,ij->i"),
    # One operand: another order, sums, diagonals.
    *("ij->ji", "ji", "ij", "ij->j", "ij->i", "ij->", "ii->i", "ii", "ii->"),
    *("ij,j->i", "ij,k->ijk", "ij,jk,kl->il", "ij,i,j->", "ij,k->j"),
    *("i,i", "i,i->i", "i,j->ij", "i,j->ji", "i,ij->j", "i->", "i", "i,j,k->kji", "i,j->"),
    *("ijk->kji", "ijk->j", "iji->ji", "bij,bjk->bik", "bij,bjk", "bij,bij->b", "ijk,jkl->il"),
    *("bhqd,bhkd->bhqk", "ijkl->ljki", "ijij->ij", "iijj->ij", "ijkl->ik", "ijkl,ijkl->"),
    *("...ij,...jk->...ik", "...ij,...jk", "...ij->...ji", "...i->...", "...i", "i...->...i"),
    *("...->...", "...i,i->...", "...,...->...", "...i->i", "...->"),
    *("->", ",i->i"),
)
"""Equations. Those of two matrices first, which is what most people write."""


_SIZES = (3, 1, 5, "first", "symbol")
"""Of the first axis that the first operand does not have; see ``extent``."""


def _terms(subscripts: str) -> tuple[list[list[str]], list[str]]:
    """The labels of each operand and of the result, ``...`` among them, as one label."""
    left, arrow, right = subscripts.partition("->")
    terms = [_labels(term) for term in left.split(",")]
    if arrow:
        return terms, _labels(right)
    used = [label for term in terms for label in term]
    once = sorted(label for label in set(used) - {_ELLIPSIS} if used.count(label) == 1)
    return terms, [_ELLIPSIS, *once] if _ELLIPSIS in used else once


def _labels(term: str) -> list[str]:
    before, dots, after = term.partition(_ELLIPSIS)
    return [*before, *([dots] if dots else []), *after]


def _named(term: Sequence[str], shape: Sequence[Dim]) -> tuple[dict[str, Dim], tuple[Dim, ...]]:
    """The dimension of each letter, and the dimensions without names; the rank fits.

    Raises:
        ValueError: a letter has two dimensions.
    """
    rest = len(shape) - len(term) + 1
    named: dict[str, Dim] = {}
    unnamed: tuple[Dim, ...] = ()
    at = 0
    for label in term:
        if label == _ELLIPSIS:
            unnamed = tuple(shape[at : at + rest])
            at += rest
            continue
        if named.setdefault(label, shape[at]) != shape[at]:
            raise ValueError(f"{label} is {named[label]} and {shape[at]}")
        at += 1
    return named, unnamed


def _fits(shape: Sequence[Dim], subscripts: str) -> bool:
    term = _terms(subscripts)[0][0]
    rank_fits = len(shape) >= len(term) - 1 if _ELLIPSIS in term else len(shape) == len(term)
    if not rank_fits:
        return False
    try:
        _named(term, shape)
    except ValueError:
        return False
    return True


def _is_paired(subscripts: str, value: object) -> bool:
    """True if a later operand shares a letter with the first one, where ``value`` is asked for."""
    first, *others = _terms(subscripts)[0]
    shared = {label for term in others for label in term} & {*first} - {_ELLIPSIS}
    return not value or bool(shared)


def _has_size(rank: int, subscripts: str, size: object) -> bool:
    first, *others = _terms(subscripts)[0]
    new = {label for term in others for label in term} - {*first, _ELLIPSIS}
    return size == _SIZES[0] or (bool(new) and (rank > 0 or size != "first"))


def _has_batches(subscripts: str, value: str) -> bool:
    first, *others = _terms(subscripts)[0]
    return value == "alike" or (_ELLIPSIS in first and any(_ELLIPSIS in term for term in others))


def _einsum(draft: Draft, value: Value, point: Point) -> None:
    subscripts = text(point, "subscripts")
    terms, result = _terms(subscripts)
    named, unnamed = _named(terms[0], value.shape)
    news: list[Dim] = [4, 2, 3]
    operands = [value]
    own = set(named)
    for term in terms[1:]:
        dims: list[Dim] = []
        for label in term:
            if label == _ELLIPSIS:
                dims += _batches(unnamed, text(point, "batches"))
            elif label in own and point["ones"]:
                dims.append(1)
            else:
                if label not in named:
                    is_first = set(named) == own
                    named[label] = extent(draft, value, point, "size") if is_first else news.pop()
                dims.append(named[label])
        operands.append(draft.operand(dims, value.dtype, constant=bool(point["other_constant"])))
    shape: list[Dim] = []
    for label in result:
        shape += unnamed if label == _ELLIPSIS else [named[label]]
    if point["spaces"]:
        subscripts = subscripts.replace(",", ", ").replace("->", " -> ")
    draft.call(_NAME, operands, shape, subscripts=subscripts)


def _batches(unnamed: tuple[Dim, ...], way: str) -> tuple[Dim, ...]:
    match way:
        case "none":
            return ()
        case "ones":
            return (1,) * len(unnamed)
        case "fewer":
            return unnamed[1:]
    return unnamed


def _rewritten(kind: str, subscripts: str, *names: str) -> Fault:
    """Of two matrices, the equation ``subscripts``, which is wrong."""

    def breaking(program: Program, _: Point) -> Program:
        def change(old: dict[str, Any]) -> dict[str, Written]:
            return {"subscripts": subscripts}

        return with_attributes(program, _NAME, change)

    return Fault(kind, (*names, *_LABELS), breaking, _MATRICES)


_MATRICES: Point = {"rank": 2, "subscripts": "ij,jk->ik"}

OPERATORS = (
    Operator(
        _NAME,
        meaning="For each element of the result the products of the operands' elements, summed "
        "along the axes whose letters the result does not name. Without an arrow the result has "
        "the letters that occur once, in alphabetical order, after the axes without names.",
        source="docstrings of relax.op.einsum and topi.einsum; numpy.einsum; torch.einsum",
        operands=(
            Operand("operands", ranks=(2, 0, 1, 3, 4), dtypes=(*FLOATS, *INTEGERS), many=True),
        ),
        attributes=(Attribute("subscripts", "text"),),
        axes=(
            Axis("subscripts", _SUBSCRIPTS, _SUBSCRIPTS[0], FitsDims(_fits), default_weight=2),
            Axis("size", _SIZES, 3, Given((RANK, "subscripts"), _has_size)),
            toggle("ones", Given(("subscripts",), _is_paired)),
            Axis(
                "batches",
                ("alike", "fewer", "none", "ones"),
                "alike",
                Given(("subscripts",), _has_batches),
            ),
            toggle("other_constant", Given(("subscripts",), lambda each, _: "," in each)),
            toggle("spaces", Given(("subscripts",), lambda each, _: "," in each or "->" in each)),
        ),
        apply=_einsum,
        numerics=Numerics.ACCUMULATES,
        faults=(
            _rewritten("label-unknown", "ij,jk->iz", "output"),
            _rewritten("label-repeated", "ij,jk->ii", "output"),
            _rewritten("operand-missing", "ij,jk,kl->il", "operand"),
            _rewritten("operand-left-over", "ij->i", "operand"),
            _rewritten("rank-of-a-term", "ijk,jk->ik", *RANKS),
            _rewritten("two-arrows", "ij,jk->i->k", "arrow"),
            _rewritten("no-letter", "i2,2k->ik", "character"),
            _rewritten("two-dots", "i..,jk->ik", "ellipsis"),
            argument_rank(_NAME, 0, pinned=_MATRICES),
            argument_grown(
                *(_NAME, 1),
                axis=0,
                names=(*SHAPES, "extent", *_LABELS),
                pinned={**_MATRICES, "ones": False, "other_constant": False},
            ),
        ),
        requires="one size of each letter, or 1",
    ),
)
