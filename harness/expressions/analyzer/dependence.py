"""Dependence of the analyzer's answers on each other: one fault may make several of them wrong.

By what its parts ask of each other (``src/arith``): whatever rewrites folds constants, and asks for
bounds and remainders; a proof rewrites; the strongest one asks for intervals as well. Some ask each
other: the bounds of a remainder are those of what it is a multiple of, and a quotient's modulus is
that of what is proved not to be negative.
"""

from collections.abc import Mapping

from relaxcheck.harness.expressions.fault import Asked

_REWRITING = ("simplify", "rewrite_simplify", "canonical_simplify")
_ON: Mapping[str, tuple[str, ...]] = {
    "const_int_bound": ("fold", "modular_set"),
    "modular_set": ("fold", "rewrite_simplify", "const_int_bound"),
    "rewrite_simplify": ("const_int_bound", "modular_set"),
    "canonical_simplify": ("rewrite_simplify",),
    "simplify": ("canonical_simplify",),
    "can_prove": ("simplify",),
    "can_prove_equal": ("can_prove",),
    "try_compare": ("simplify",),
    "int_set": ("can_prove", "modular_set"),
    "can_prove-strong": ("can_prove", "int_set"),
    "detect_linear_equation": ("simplify",),
    "deduce_bound": ("can_prove", "int_set"),
    "iter_map_simplify": ("can_prove",),
    "detect_iter_map": ("iter_map_simplify",),
    "detect_iter_map-surjective": ("detect_iter_map",),
    "detect_iter_map-bijective": ("detect_iter_map-surjective",),
    "index-reversed": ("index",),
}
"""By question, the questions that answering it asks; a kernel that loads both ways has one
expression."""

_SAMPLED = frozenset({"fold", "detect_linear_equation"})
"""Questions that some expressions are asked, or that are asked in one of two variants."""


def related(question: str, other: str) -> bool:
    """True if one fault may spoil the answers to both questions: one rests on the other."""
    return question in _basis(other) or other in _basis(question)


def repeats(asked: Asked) -> bool:
    """True if it only repeats or extends another check; few expressions are asked it."""
    return bool(asked.after) or asked.question == "can_prove-strong"


def sampled(asked: Asked) -> bool:
    """True if only a full check is certain to ask it.

    See ``relaxcheck.harness.expressions.analyzer.check``: ``fully``.
    """
    return repeats(asked) or asked.question in _SAMPLED


def _basis(question: str) -> frozenset[str]:
    basis: set[str] = set()
    left = [question]
    while left:
        dependent = left.pop()
        if dependent not in basis:
            basis.add(dependent)
            # All three ways of rewriting share their rules.
            left += (*_ON.get(dependent, ()), *(_REWRITING if dependent in _REWRITING else ()))
    return frozenset(basis)
