"""Which of the analyzer's answers rest on which, so that one fault may make several of them wrong.

By what its parts ask of each other (``src/arith``): whatever rewrites folds constants, and asks for
bounds and remainders; a proof rewrites; the strongest one asks for intervals as well. Some ask each
other: the bounds of a remainder are those of what it is a multiple of, and a quotient's modulus is
that of what is proved not to be negative.
"""

from collections.abc import Mapping

from harness.fault import VALIDITY, is_anew, without_first

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
"""By check, what it asks. A kernel that loads both ways is there too: it has one expression."""

_SAMPLED = frozenset({"fold", "detect_linear_equation"})
"""Checks that are made of some expressions, or in one of two variants."""


def related(one: str, other: str) -> bool:
    """Whether one fault may make both checks fail: they are one, or one rests on the other.

    Whatever was told before, and whether it is the value or the validity that is lost: it is the
    same that is asked.
    """
    left, right = _asked(one), _asked(other)
    return left in _basis(right) or right in _basis(left)


def seldom(check: str) -> bool:
    """Whether it is asked of some expressions alone, and only repeats or extends another check."""
    return is_anew(check) or check == "can_prove-strong"


def sampled(check: str) -> bool:
    """Whether of an expression alone it is only made for certain where all checks are.

    See ``harness.algebra.check``: ``fully``.
    """
    return seldom(check) or _asked(check) in _SAMPLED


def _asked(check: str) -> str:
    return without_first(check).removesuffix(VALIDITY)


def _basis(check: str) -> frozenset[str]:
    found: set[str] = set()
    left = [check]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            # All three ways of rewriting share their rules.
            left += (*_ON.get(one, ()), *(_REWRITING if one in _REWRITING else ()))
    return frozenset(found)
