"""One spelling, over the releases, of the integer analyzer's inputs and answers.

It lives in ``tvm.sym``, earlier in ``tvm.arith``; its knowledge is the same.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import tvm
from tvm import tirx

from relaxcheck.fixes.tvm_api import PrimExpr, dtype_of
from relaxcheck.fixes.tvm_api import analyzer as analyzer
from relaxcheck.fixes.tvm_api.shapes import name_of, variables

_SYM: Any = import_module("tvm.sym") if hasattr(tvm, "sym") else import_module("tvm.arith")

Analyzer = Any
Interval = tuple[PrimExpr | None, PrimExpr | None]
"""Inclusive ends; None for no end."""

LEVELS = ("NoCheck", "Surjective", "Bijective")
"""Degrees of what ``detect_iter_map`` guarantees of the map that it finds."""


def bind_range(knowing: Analyzer, variable: PrimExpr, low: int, high: int, again: bool) -> None:
    """Bind ``variable`` to the range ``low`` to ``high``; ``again`` replaces an earlier range.

    TVM substitutes a variable that has a single value.
    """
    dtype = dtype_of(variable)
    extent = tirx.IntImm(dtype, high - low + 1)
    known = tvm.ir.Range.from_min_extent(tirx.IntImm(dtype, low), extent)
    knowing.bind(variable, known, again)


def bound_by_constants(knowing: Analyzer, variable: PrimExpr, low: int, high: int) -> None:
    """Update the analyzer's constant bounds only, as Relax does for its shape variables."""
    knowing.update(variable, _SYM.ConstIntBound(low, high), True)


def assume(knowing: Analyzer, condition: PrimExpr) -> Callable[[], object]:
    """Assume ``condition`` until the returned function is called; undo in reverse order."""
    scope = knowing.constraint_scope(condition)
    scope.__enter__()
    return lambda: scope.__exit__(None, None, None)


def proves(knowing: Analyzer, claim: PrimExpr, strong: bool) -> bool:
    """True if the analyzer proves ``claim``; ``strong`` allows means that Relax never uses.

    These are bounds of symbols, and z3, built in since 0.26, which limits work rather than time.
    """
    strength = _SYM.ProofStrength.SYMBOLIC_BOUND if strong else _SYM.ProofStrength.DEFAULT
    return bool(knowing.can_prove(claim, strength))


def constant_bounds(knowing: Analyzer, value: PrimExpr) -> tuple[int | None, int | None]:
    """Constant inclusive ends of ``value``; None for no end."""
    bounds = knowing.const_int_bound(value)
    low, high = int(bounds.min_value), int(bounds.max_value)
    infinite = _SYM.ConstIntBound
    return None if low == infinite.NEG_INF else low, None if high == infinite.POS_INF else high


def modular_set(knowing: Analyzer, value: PrimExpr) -> tuple[int, int]:
    """(coefficient, base) such that ``value`` is a multiple of the coefficient plus the base."""
    modulus = knowing.modular_set(value)
    return int(modulus.coeff), int(modulus.base)


_ORDERS: Mapping[str, str] = {
    "INCONSISTENT": "never",
    "EQ": "==",
    "LT": "<",
    "LE": "<=",
    "GT": ">",
    "GE": ">=",
    "NE": "!=",
}


def compared(knowing: Analyzer, left: PrimExpr, right: PrimExpr) -> str | None:
    """The relation of ``left`` to ``right`` by known comparisons, or None if unknown.

    ``never`` if the known comparisons contradict each other.
    """
    return _ORDERS.get(knowing.try_compare(left, right).name)


def linear_parts(value: PrimExpr, variables: Sequence[PrimExpr]) -> list[PrimExpr]:
    """A factor for each of ``variables``, then the remainder; empty if ``value`` is not linear."""
    return list(_SYM.detect_linear_equation(value, list(variables)))


def deduced_range(variable: PrimExpr, condition: PrimExpr) -> Interval | None:
    """Ends between which ``variable`` satisfies ``condition``; None if TVM finds none."""
    interval = _SYM.deduce_bound(variable, condition, {}, {})
    if not isinstance(interval, _SYM.IntervalSet) or interval.is_nothing():
        return None
    return _finite(interval.min_value), _finite(interval.max_value)


def intervals(ranges: Mapping[PrimExpr, tuple[int, int]]) -> dict[PrimExpr, Any]:
    """Inclusive ranges of the variables to relax, for ``covering``."""
    return {
        variable: _SYM.IntervalSet(*(tirx.IntImm(dtype_of(variable), end) for end in ends))
        for variable, ends in ranges.items()
    }


def covering(knowing: Analyzer, value: PrimExpr, relaxed: Mapping[PrimExpr, Any]) -> Interval:
    """Ends of an interval that contains ``value`` wherever the ``relaxed`` variables lie.

    The ends are expressions of the other variables; None for no end.
    """
    interval = knowing.int_set(value, relaxed)
    if not isinstance(interval, _SYM.IntervalSet):
        return None, None
    low, high = interval.min_value, interval.max_value
    return _finite(low), _finite(high)


_INFINITE = ("neg_inf", "pos_inf")


def _finite(end: PrimExpr) -> PrimExpr | None:
    """``end``, or None if it is infinite or contains an infinity."""
    if isinstance(end, tirx.IntImm):
        return end
    infinite = any(name_of(variable) in _INFINITE for variable in variables(end))
    return None if infinite else end


def ranges(of: Mapping[PrimExpr, int]) -> dict[PrimExpr, Any]:
    """Iterator ranges: each variable runs from 0 to below its extent."""
    return {
        variable: tvm.ir.Range.from_min_extent(
            tirx.IntImm(dtype_of(variable), 0), tirx.IntImm(dtype_of(variable), extent)
        )
        for variable, extent in of.items()
    }


def simplified_index(
    index: PrimExpr, iterators: Mapping[PrimExpr, Any], predicate: PrimExpr | None
) -> PrimExpr:
    """``index`` as written by ``iter_map_simplify``."""
    assumed = tirx.IntImm("bool", 1) if predicate is None else predicate
    return _SYM.iter_map_simplify([index], iterators, assumed)[0]


def detected_index(
    index: PrimExpr, iterators: Mapping[PrimExpr, Any], predicate: PrimExpr | None, level: str
) -> tuple[PrimExpr, tuple[int, int, int] | None] | None:
    """``index`` as the iterator map found by ``detect_iter_map``, or None if it finds none.

    With it (base, scale, extent), if the map is a single iterator and all three are constant.
    """
    assumed = tirx.IntImm("bool", 1) if predicate is None else predicate
    checked = getattr(_SYM.iter_affine_map.IterMapLevel, level)
    mapped = list(_SYM.detect_iter_map([index], iterators, assumed, checked).indices)
    if not mapped:
        return None
    parts: Sequence[Any] = list(mapped[0].args)
    iterator = None
    if len(parts) == 1:
        numbers = (mapped[0].base, parts[0].scale, parts[0].extent)
        if all(isinstance(number, tirx.IntImm) for number in numbers):
            iterator = (int(numbers[0]), int(numbers[1]), int(numbers[2]))
    return _SYM.normalize_iter_map_to_expr(mapped[0]), iterator
