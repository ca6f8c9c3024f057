"""Which of the analyzer's answers rest on which, so that one fault may make several of them wrong.

By what its parts ask of each other: whatever rewrites folds constants, and asks for bounds and
remainders; a proof rewrites; the strongest one asks for intervals as well.
"""

import re
from collections.abc import Mapping

ANEW = re.compile(r"-after-\w+$")
"""How checks end of what ranges that were told first leave behind."""

_REWRITING = ("simplify", "rewrite_simplify", "canonical_simplify")
_ON: Mapping[str, tuple[str, ...]] = {
    "const_int_bound": ("fold",),
    "modular_set": ("fold",),
    "rewrite_simplify": ("const_int_bound", "modular_set"),
    "canonical_simplify": ("rewrite_simplify",),
    "simplify": ("canonical_simplify",),
    "can_prove": ("simplify",),
    "can_prove_equal": ("can_prove",),
    "try_compare": ("simplify",),
    "int_set": ("simplify",),
    "can_prove-strong": ("can_prove", "int_set"),
    "detect_linear_equation": ("simplify",),
    "deduce_bound": ("can_prove", "int_set"),
    "iter_map_simplify": ("can_prove",),
    "detect_iter_map": ("iter_map_simplify",),
    "detect_iter_map-surjective": ("detect_iter_map",),
    "detect_iter_map-bijective": ("detect_iter_map-surjective",),
    "index": ("value",),
    "index-reversed": ("index",),
}
"""By check, what it asks first. A kernel's checks are there too: they compile one expression."""


def related(one: str, other: str) -> bool:
    """Whether one fault may make both checks fail: they are one, or one rests on the other.

    Whatever was told before, and whether it is the value or the validity that is lost: it is the
    same that is asked.
    """
    left, right = _asked(one), _asked(other)
    return left in _basis(right) or right in _basis(left)


def seldom(check: str) -> bool:
    """Whether it is asked of some expressions alone, and only repeats or extends another check."""
    return bool(ANEW.search(check)) or check == "can_prove-strong"


def _asked(check: str) -> str:
    return ANEW.sub("", check).removesuffix("-validity")


def _basis(check: str) -> frozenset[str]:
    found = {check}.union(*(_basis(one) for one in _ON.get(check, ())))
    # All three ways of rewriting share their rules.
    return frozenset(found.union(_REWRITING) if found & {*_REWRITING} else found)
