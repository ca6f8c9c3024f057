"""Faults planted into an analyzer are found by the checks made for them.

They are planted into an analyzer that is right by construction (``exact_session``), so that a check
which finds a fault elsewhere is wrong.
"""

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from relaxcheck.generators.expressions.language import Expression, apply, constant
from relaxcheck.harness.expressions.analyzer import check
from relaxcheck.harness.expressions.analyzer.observed import observed
from relaxcheck.harness.expressions.analyzer.session import Ends, Mapped, Session
from tests.harness.expressions.exact_session import ExactSession
from tests.harness.expressions.planted_analyzers import (
    KeepsFirstRange,
    ProvesTooMuch,
    ProvesTooMuchStrongly,
    Raises,
    TruncatesFloors,
    rewritten,
)
from tests.problems import problems

MOST = 3000
"""A plant that is not found in so many cases is not found."""


class DividesAnew(ExactSession):
    """x becomes x*x // x: the same, but where x is zero."""

    def rewritten(self, how: str, handle: Expression) -> Expression:
        if handle.operator != "+" or how != "simplify":
            return handle
        left, right = handle.operands
        return apply("+", left, apply("//", apply("*", right, right), right))


class FoldsFloors(ExactSession):
    def fold(self, expression: Expression) -> Expression:
        return rewritten(expression, "%", "truncmod")


class HighBound(ExactSession):
    """Forgets the last value of remainders."""

    def bounds(self, handle: Expression) -> tuple[int | None, int | None]:
        low, high = self._ends(handle)
        return (low, high - 1) if handle.operator == "%" and low != high else (low, high)


class LowBound(ExactSession):
    def bounds(self, handle: Expression) -> tuple[int | None, int | None]:
        low, high = self._ends(handle)
        return (low + 1, high) if handle.operator == "min" else (low, high)


class WrongModulus(ExactSession):
    def modular(self, handle: Expression) -> tuple[int, int]:
        coefficient, base = super().modular(handle)
        return (coefficient * 2, base) if handle.operator == "*" else (coefficient, base)


class NarrowInterval(ExactSession):
    def covering(self, handle: Expression, relaxed: Sequence[str]) -> Ends:
        low, high = super().covering(handle, relaxed)
        return (high, high) if handle.operator == "max" and len(relaxed) == 1 else (low, high)


def ordered(tree: Expression) -> Expression:
    """``tree`` with the operands of differences in one order."""
    operands = [ordered(operand) for operand in tree.operands]
    if tree.operator == "-":
        operands.sort(key=str)
    return Expression(tree.operator, tree.dtype, tuple(operands), tree.leaf)


class DifferencesCommute(ExactSession):
    def proves_equal(self, left: Expression, right: Expression) -> bool:
        return ordered(left) == ordered(right) or super().proves_equal(left, right)


class OrdersWrongly(ExactSession):
    def order(self, left: Expression, right: Expression) -> str | None:
        return "<" if super().order(left, right) == "<=" else super().order(left, right)


class TakesRemaindersForZero(ExactSession):
    def linear(self, handle: Expression, names: Sequence[str]) -> list[Expression]:
        if handle.operator != "%":
            return super().linear(handle, names)
        return [constant(0, handle.dtype)] * (len(names) + 1)


class NotWithoutTheVariable(ExactSession):
    def linear(self, handle: Expression, names: Sequence[str]) -> list[Expression]:
        return [*(constant(0, handle.dtype) for _ in names), handle]


class DeducesTooMuch(ExactSession):
    def deduced(self, condition: Expression, name: str) -> Ends | None:
        result = super().deduced(condition, name)
        return result if result is None else (None, condition.operands[1])


class DropsOffsets(ExactSession):
    def index(self, handle: Expression, predicate: Expression | None) -> Expression:
        if handle.operator == "+" and handle.operands[1].operator == "const":
            return handle.operands[0]
        return handle


class DetectsWrongly(ExactSession):
    def iterators(
        self, handle: Expression, predicate: Expression | None, level: str
    ) -> Mapped | None:
        result = super().iterators(handle, predicate, level)
        new = rewritten(handle, "%", "//")
        return result if result is None or level != "NoCheck" else (new, None)


class SaysBijective(ExactSession):
    def iterators(
        self, handle: Expression, predicate: Expression | None, level: str
    ) -> Mapped | None:
        return super().iterators(handle, predicate, "NoCheck")


class SaysLonger(ExactSession):
    def iterators(
        self, handle: Expression, predicate: Expression | None, level: str
    ) -> Mapped | None:
        result = super().iterators(handle, predicate, level)
        if result is None or result[1] is None:
            return result
        base, scale, extent = result[1]
        # As many values as no machine has memory for.
        return result[0], (base, scale, 2**60 if handle.operator == "//" else extent)


class KeepsConditions(ExactSession):
    @contextmanager
    def assuming(self, conditions: Sequence[Expression]) -> Any:
        self.conditions += conditions
        yield


PLANTS: dict[type[Session], set[str]] = {
    TruncatesFloors: {"canonical_simplify"},
    DividesAnew: {"simplify-validity"},
    FoldsFloors: {"fold"},
    HighBound: {"const_int_bound"},
    LowBound: {"const_int_bound"},
    WrongModulus: {"modular_set"},
    NarrowInterval: {"int_set"},
    ProvesTooMuch: {"can_prove"},
    ProvesTooMuchStrongly: {"can_prove-strong"},
    DifferencesCommute: {"can_prove_equal"},
    OrdersWrongly: {"try_compare"},
    TakesRemaindersForZero: {"detect_linear_equation"},
    NotWithoutTheVariable: {"detect_linear_equation"},
    DeducesTooMuch: {"deduce_bound"},
    DropsOffsets: {"iter_map_simplify"},
    DetectsWrongly: {"detect_iter_map"},
    SaysBijective: {"detect_iter_map-bijective"},
    SaysLonger: {"detect_iter_map-surjective"},
    KeepsConditions: {"restored"},
    Raises: {"raises"},
}


KINDS: dict[type[Session], str] = {
    DeducesTooMuch: "claim",
    DropsOffsets: "index",
    DetectsWrongly: "index",
    SaysBijective: "index",
    SaysLonger: "index",
}
"""The kind to draw for plants that all kinds together would show late."""


def named(checks: set[str]) -> set[str]:
    """The names of ``checks`` without the mark of ranges told before."""
    return {name.partition("-after-")[0] for name in checks}


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found_by_the_check_that_is_for_it(plant: type[Session]) -> None:
    results: set[str] = set()
    kind = KINDS.get(plant)
    for case in problems(5, MOST):
        if kind is not None and case.kind != kind:
            continue
        faults = check(case, plant) or ()
        results |= {fault.check for fault in faults}
        if results:
            break
    assert named(results) == PLANTS[plant]


def test_a_stale_range_is_found_by_binding_other_ranges_first() -> None:
    results: set[str] = set()
    for case in problems(6, 300):
        results |= {fault.check for fault in check(case, KeepsFirstRange) or ()}
    assert results
    assert all("-after-" in name for name in results)


def test_correct_answers_have_no_fault() -> None:
    assert [fault for case in problems(7, 600) for fault in check(case, ExactSession) or ()] == []


def test_most_of_what_is_assumed_holds_somewhere() -> None:
    assuming = [case for case in problems(8, 1500) if case.constraints]
    claimed = [case for case in assuming if observed(case) is not None]
    assert len(claimed) > 0.55 * len(assuming) > 200
