"""One spelling, over the releases, for what the integer analyzer is told and answers.

It lives in ``tvm.sym``, once in ``tvm.arith``; what it knows is the same.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import tvm
from tvm import tirx

from fixes.tvm_api import PrimExpr, dtype_of
from fixes.tvm_api import analyzer as analyzer
from fixes.tvm_api_shapes import name_of, variables

_SYM: Any = import_module("tvm.sym") if hasattr(tvm, "sym") else import_module("tvm.arith")

Analyzer = Any
Interval = tuple[PrimExpr | None, PrimExpr | None]
"""Inclusive ends, None where there is none."""

LEVELS = ("NoCheck", "Surjective", "Bijective")
"""How much ``detect_iter_map`` promises of the map that it finds."""


def bind_range(knowing: Analyzer, variable: PrimExpr, low: int, high: int, again: bool) -> None:
    """Tell the analyzer that ``variable`` is from ``low`` to ``high``; ``again``: another range.

    Where there is one value only, TVM puts it in the variable's place.
    """
    dtype = dtype_of(variable)
    extent = tirx.IntImm(dtype, high - low + 1)
    known = tvm.ir.Range.from_min_extent(tirx.IntImm(dtype, low), extent)
    knowing.bind(variable, known, again)


def bound_by_constants(knowing: Analyzer, variable: PrimExpr, low: int, high: int) -> None:
    """Tell the analyzer's constant bounds alone, as Relax does of its shape variables."""
    knowing.update(variable, _SYM.ConstIntBound(low, high), True)


def assume(knowing: Analyzer, condition: PrimExpr) -> Callable[[], object]:
    """Assume ``condition`` until what is returned is called, last assumed first."""
    scope = knowing.constraint_scope(condition)
    scope.__enter__()
    return lambda: scope.__exit__(None, None, None)


def proves(knowing: Analyzer, claim: PrimExpr, strong: bool) -> bool:
    """Whether ``claim`` is proved, by ``strong`` means where asked: those that Relax never asks.

    These are bounds of symbols, and z3, which came with 0.26; how much work it may do is counted
    there, not timed.
    """
    strength = _SYM.ProofStrength.SYMBOLIC_BOUND if strong else _SYM.ProofStrength.DEFAULT
    return bool(knowing.can_prove(claim, strength))


def constant_bounds(knowing: Analyzer, value: PrimExpr) -> tuple[int | None, int | None]:
    """Constant ends of ``value``, inclusive, None where there is none."""
    bounds = knowing.const_int_bound(value)
    low, high = int(bounds.min_value), int(bounds.max_value)
    infinite = _SYM.ConstIntBound
    return None if low == infinite.NEG_INF else low, None if high == infinite.POS_INF else high


def modular_set(knowing: Analyzer, value: PrimExpr) -> tuple[int, int]:
    """(coefficient, base): ``value`` is a multiple of the one plus the other."""
    found = knowing.modular_set(value)
    return int(found.coeff), int(found.base)


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
    """How ``left`` is to ``right`` by the comparisons that are known; None where that is not known.

    ``never`` where what is known contradicts itself.
    """
    return _ORDERS.get(knowing.try_compare(left, right).name)


def linear_parts(value: PrimExpr, variables: Sequence[PrimExpr]) -> list[PrimExpr]:
    """A factor for each of ``variables``, and what is left; nothing where it is not so made."""
    return list(_SYM.detect_linear_equation(value, list(variables)))


def deduced_range(variable: PrimExpr, condition: PrimExpr) -> Interval | None:
    """Ends within which ``variable`` makes ``condition`` hold; None where none are found."""
    found = _SYM.deduce_bound(variable, condition, {}, {})
    if not isinstance(found, _SYM.IntervalSet) or found.is_nothing():
        return None
    return _finite(found.min_value), _finite(found.max_value)


def intervals(ranges: Mapping[PrimExpr, tuple[int, int]]) -> dict[PrimExpr, Any]:
    """For ``covering``: the ranges, inclusive, of the variables that are to be relaxed."""
    return {
        variable: _SYM.IntervalSet(*(tirx.IntImm(dtype_of(variable), end) for end in ends))
        for variable, ends in ranges.items()
    }


def covering(knowing: Analyzer, value: PrimExpr, relaxed: Mapping[PrimExpr, Any]) -> Interval:
    """Ends of an interval that has ``value`` wherever the ``relaxed`` variables are.

    They are expressions of the other variables; None where there is no end.
    """
    found = knowing.int_set(value, relaxed)
    if not isinstance(found, _SYM.IntervalSet):
        return None, None
    low, high = found.min_value, found.max_value
    return _finite(low), _finite(high)


_INFINITE = ("neg_inf", "pos_inf")


def _finite(end: PrimExpr) -> PrimExpr | None:
    """``end``, None where it is infinite or an expression of what is infinite."""
    if isinstance(end, tirx.IntImm):
        return end
    infinite = any(name_of(variable) in _INFINITE for variable in variables(end))
    return None if infinite else end


def ranges(of: Mapping[PrimExpr, int]) -> dict[PrimExpr, Any]:
    """For iterators: each variable goes from 0 to below its extent."""
    return {
        variable: tvm.ir.Range.from_min_extent(
            tirx.IntImm(dtype_of(variable), 0), tirx.IntImm(dtype_of(variable), extent)
        )
        for variable, extent in of.items()
    }


def simplified_index(
    index: PrimExpr, iterators: Mapping[PrimExpr, Any], predicate: PrimExpr | None
) -> PrimExpr:
    """``index`` as ``iter_map_simplify`` writes it."""
    assumed = tirx.IntImm("bool", 1) if predicate is None else predicate
    return _SYM.iter_map_simplify([index], iterators, assumed)[0]


def detected_index(
    index: PrimExpr, iterators: Mapping[PrimExpr, Any], predicate: PrimExpr | None, level: str
) -> tuple[PrimExpr, tuple[int, int, int] | None] | None:
    """``index`` as the map of iterators that ``detect_iter_map`` finds; None where it finds none.

    With it, where the map is one iterator: (base, scale, extent), all constant.
    """
    assumed = tirx.IntImm("bool", 1) if predicate is None else predicate
    checked = getattr(_SYM.iter_affine_map.IterMapLevel, level)
    found = list(_SYM.detect_iter_map([index], iterators, assumed, checked).indices)
    if not found:
        return None
    parts: Sequence[Any] = list(found[0].args)
    told = None
    if len(parts) == 1:
        numbers = (found[0].base, parts[0].scale, parts[0].extent)
        if all(isinstance(number, tirx.IntImm) for number in numbers):
            told = (int(numbers[0]), int(numbers[1]), int(numbers[2]))
    return _SYM.normalize_iter_map_to_expr(found[0]), told
