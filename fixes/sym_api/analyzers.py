"""One spelling, over the releases, of the integer analyzer's inputs and answers.

It lives in ``sym``, earlier in ``arith``. It is given facts one by one (``bind``, ``update``,
``constraint_scope``). In TIRx alone it follows a context, a chain of constraints; to change the
facts is to follow another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from relaxcheck.fixes.sym_api.spelling import (
    IntImm,
    PrimExpr,
    dtype_of,
    half_open,
    integer,
    name_of,
    tirx,
    true,
    tvm,
    variables,
)

_SYM: Any = tvm.sym if hasattr(tvm, "sym") else tvm.arith

Interval = tuple[PrimExpr | None, PrimExpr | None]
"""Inclusive ends; None for no end."""

LEVELS = ("NoCheck", "Surjective", "Bijective")
"""Degrees of what ``detect_iter_map`` guarantees of the map that it finds."""

_detect_linear_equation: Any = (
    _SYM.detect_linear_equation
    if hasattr(_SYM, "detect_linear_equation")
    else tirx.analysis.detect_linear_equation
)


@dataclass(slots=True)
class Analyzer:
    """``core``, an analyzer of TVM's; where it follows contexts, ``context`` is the present one.

    ``ranges`` are the constraints of the root context, by variable.
    """

    core: Any = field(default_factory=lambda: _SYM.Analyzer())
    context: Any = None
    ranges: dict[PrimExpr, Any] = field(default_factory=dict)

    def follow(self, context: Any) -> None:
        """Know what ``context`` says, and no more."""
        self.context = context
        self.core.sync_constraint_context(context)


def analyzer() -> Analyzer:
    """A fresh analyzer, which knows nothing."""
    return Analyzer()


def bind_range(knowing: Analyzer, variable: PrimExpr, low: int, high: int, again: bool) -> None:
    """Bind ``variable`` to the range ``low`` to ``high``; ``again`` replaces an earlier range.

    TVM substitutes a variable that has a single value. Among contexts, a range that replaces
    another begins a new root, with the ranges of all variables and no conditions.
    """
    known = half_open(dtype_of(variable), low, high - low + 1)
    if hasattr(knowing.core, "bind"):
        knowing.core.bind(variable, known, again)
        return
    knowing.ranges[variable] = _SYM.RangeConstraint(variable, known)
    context = _SYM.ConstraintContext()
    for constraint in knowing.ranges.values():
        context.append(constraint)
    knowing.follow(context)


def bound_by_constants(knowing: Analyzer, variable: PrimExpr, low: int, high: int) -> None:
    """Update the analyzer's constant bounds only, as Relax does for its shape variables.

    Where these cannot be given alone, bind the range.
    """
    if hasattr(knowing.core, "update"):
        knowing.core.update(variable, _SYM.ConstIntBound(low, high), True)
    else:
        bind_range(knowing, variable, low, high, True)


def assume(knowing: Analyzer, condition: PrimExpr) -> Callable[[], object]:
    """Assume ``condition`` until the returned function is called; undo in reverse order."""
    if hasattr(knowing.core, "constraint_scope"):
        scope = knowing.core.constraint_scope(condition)
        scope.__enter__()
        return lambda: scope.__exit__(None, None, None)
    outer = _SYM.ConstraintContext() if knowing.context is None else knowing.context
    # It sees what is in the outer context now, and nothing that is appended later.
    inner = _SYM.ConstraintContext(outer, outer.local_size())
    inner.append(_SYM.PredicateConstraint(condition))
    knowing.follow(inner)
    return lambda: knowing.follow(outer)


def rewritten(knowing: Analyzer, how: str, value: PrimExpr) -> PrimExpr:
    """``value`` by the method ``how``: ``simplify``, ``rewrite_simplify``, …"""
    return getattr(knowing.core, how)(value)


def proves_equal(knowing: Analyzer, left: PrimExpr, right: PrimExpr) -> bool:
    """True if the analyzer proves that both are equal."""
    return bool(knowing.core.can_prove_equal(left, right))


def proves(knowing: Analyzer, claim: PrimExpr, strong: bool) -> bool:
    """True if the analyzer proves ``claim``; ``strong`` allows means that Relax never uses.

    These are bounds of symbols, and z3, built in since 0.26, which limits work rather than time.
    """
    strength = _SYM.ProofStrength.SYMBOLIC_BOUND if strong else _SYM.ProofStrength.DEFAULT
    return bool(knowing.core.can_prove(claim, strength))


def constant_bounds(knowing: Analyzer, value: PrimExpr) -> tuple[int | None, int | None]:
    """Constant inclusive ends of ``value``; None for no end."""
    bounds = knowing.core.const_int_bound(value)
    low, high = int(bounds.min_value), int(bounds.max_value)
    infinite = _SYM.ConstIntBound
    return None if low == infinite.NEG_INF else low, None if high == infinite.POS_INF else high


def modular_set(knowing: Analyzer, value: PrimExpr) -> tuple[int, int]:
    """(coefficient, base) such that ``value`` is a multiple of the coefficient plus the base."""
    modulus = knowing.core.modular_set(value)
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
    return _ORDERS.get(knowing.core.try_compare(left, right).name)


def linear_parts(value: PrimExpr, variables: Sequence[PrimExpr]) -> list[PrimExpr]:
    """A factor for each of ``variables``, then the remainder; empty if ``value`` is not linear."""
    return list(_detect_linear_equation(value, list(variables)))


def deduced_range(variable: PrimExpr, condition: PrimExpr) -> Interval | None:
    """Ends between which ``variable`` satisfies ``condition``; None if TVM finds none."""
    interval = _SYM.deduce_bound(variable, condition, {}, {})
    if not isinstance(interval, _SYM.IntervalSet) or interval.is_nothing():
        return None
    return _finite(interval.min_value), _finite(interval.max_value)


def intervals(ranges: Mapping[PrimExpr, tuple[int, int]]) -> dict[PrimExpr, Any]:
    """Inclusive ranges of the variables to relax, for ``covering``."""
    return {
        variable: _SYM.IntervalSet(*(integer(end, dtype_of(variable)) for end in ends))
        for variable, ends in ranges.items()
    }


def covering(knowing: Analyzer, value: PrimExpr, relaxed: Mapping[PrimExpr, Any]) -> Interval:
    """Ends of an interval that contains ``value`` wherever the ``relaxed`` variables lie.

    The ends are expressions of the other variables; None for no end.
    """
    interval = knowing.core.int_set(value, relaxed)
    if not isinstance(interval, _SYM.IntervalSet):
        return None, None
    low, high = interval.min_value, interval.max_value
    return _finite(low), _finite(high)


_INFINITE = ("neg_inf", "pos_inf")


def _finite(end: PrimExpr) -> PrimExpr | None:
    """``end``, or None if it is infinite or contains an infinity."""
    if isinstance(end, IntImm):
        return end
    infinite = any(name_of(variable) in _INFINITE for variable in variables(end))
    return None if infinite else end


def ranges(of: Mapping[PrimExpr, int]) -> dict[PrimExpr, Any]:
    """Iterator ranges: each variable runs from 0 to below its extent."""
    return {variable: half_open(dtype_of(variable), 0, extent) for variable, extent in of.items()}


def simplified_index(
    index: PrimExpr, iterators: Mapping[PrimExpr, Any], predicate: PrimExpr | None
) -> PrimExpr:
    """``index`` as written by ``iter_map_simplify``."""
    assumed = true() if predicate is None else predicate
    return _SYM.iter_map_simplify([index], iterators, assumed)[0]


def detected_index(
    index: PrimExpr, iterators: Mapping[PrimExpr, Any], predicate: PrimExpr | None, level: str
) -> tuple[PrimExpr, tuple[int, int, int] | None] | None:
    """``index`` as the iterator map found by ``detect_iter_map``, or None if it finds none.

    With it (base, scale, extent), if the map is a single iterator and all three are constant.
    """
    assumed = true() if predicate is None else predicate
    checked = getattr(_SYM.iter_affine_map.IterMapLevel, level)
    mapped = list(_SYM.detect_iter_map([index], iterators, assumed, checked).indices)
    if not mapped:
        return None
    parts: Sequence[Any] = list(mapped[0].args)
    iterator = None
    if len(parts) == 1:
        numbers = (mapped[0].base, parts[0].scale, parts[0].extent)
        if all(isinstance(number, IntImm) for number in numbers):
            iterator = (int(numbers[0]), int(numbers[1]), int(numbers[2]))
    return _SYM.normalize_iter_map_to_expr(mapped[0]), iterator
