"""The checks of what the analyzer answers: each plant is wrong in one way, which one check finds.

What is planted stands in an analyzer that is right by construction (``exact_session``), so that a
check that finds it is the only one that can.
"""

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from tvm.error import InternalError

from generators import expressions
from generators.algebra import block
from generators.algebra_case import ExpressionCase
from generators.algebra_emission import NotRead
from generators.expression_text import parse
from generators.expressions import Expression, Variable, apply, constant
from harness.algebra import answers, check, unbounded
from harness.algebra.observed import observed
from harness.algebra.session import Ends, Mapped, Session
from tests.harness.exact_session import ExactSession

MOST = 3000
"""A plant that is not found in so many cases is not found."""


def rewritten(tree: Expression, old: str, new: str) -> Expression:
    """``tree`` with another operator everywhere."""
    operands = tuple(rewritten(operand, old, new) for operand in tree.operands)
    operator = new if tree.operator == old else tree.operator
    return Expression(operator, tree.dtype, operands, tree.leaf)


class TruncatesFloors(ExactSession):
    def rewritten(self, how: str, handle: Expression) -> Expression:
        return rewritten(handle, "//", "truncdiv") if how == "canonical_simplify" else handle


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


class ProvesTooMuch(ExactSession):
    """Takes a bound to be one better than it is."""

    def proves(self, claim: Expression, strong: bool) -> bool:
        if claim.operator == ">=" and not strong and claim.operands[1].operator == "const":
            low = self.bounds(claim.operands[0])[0]
            return low is not None and low + 1 >= int(claim.operands[1].leaf)
        return super().proves(claim, strong)


class ProvesTooMuchStrongly(ExactSession):
    def proves(self, claim: Expression, strong: bool) -> bool:
        return strong or super().proves(claim, strong)


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
        found = super().deduced(condition, name)
        return found if found is None else (None, condition.operands[1])


class DropsOffsets(ExactSession):
    def index(self, handle: Expression, predicate: Expression | None) -> Expression:
        if handle.operator == "+" and handle.operands[1].operator == "const":
            return handle.operands[0]
        return handle


class DetectsWrongly(ExactSession):
    def iterators(
        self, handle: Expression, predicate: Expression | None, level: str
    ) -> Mapped | None:
        found = super().iterators(handle, predicate, level)
        new = rewritten(handle, "%", "//")
        return found if found is None or level != "NoCheck" else (new, None)


class SaysBijective(ExactSession):
    def iterators(
        self, handle: Expression, predicate: Expression | None, level: str
    ) -> Mapped | None:
        return super().iterators(handle, predicate, "NoCheck")


class SaysLonger(ExactSession):
    def iterators(
        self, handle: Expression, predicate: Expression | None, level: str
    ) -> Mapped | None:
        found = super().iterators(handle, predicate, level)
        if found is None or found[1] is None:
            return found
        base, scale, extent = found[1]
        # As many values as no machine has memory for.
        return found[0], (base, scale, 2**60 if handle.operator == "//" else extent)


class KeepsConditions(ExactSession):
    @contextmanager
    def assuming(self, conditions: Sequence[Expression]) -> Any:
        self.conditions += conditions
        yield


class KeepsFirstRange(ExactSession):
    def rebind(self, variables: Sequence[Variable]) -> None:
        pass


class Raises(ExactSession):
    def modular(self, handle: Expression) -> tuple[int, int]:
        if handle.operator == "truncmod":
            raise InternalError("no rule for it")
        return super().modular(handle)


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
"""What is drawn for those that would be met late otherwise."""


def named(checks: set[str]) -> set[str]:
    """Without what tells that other ranges were told first."""
    return {name.partition("-after-")[0] for name in checks}


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found_by_the_check_that_is_for_it(plant: type[Session]) -> None:
    found: set[str] = set()
    kind = KINDS.get(plant)
    for case in block(5, MOST):
        if kind is not None and case.kind != kind:
            continue
        faults = check(case, plant) or ()
        found |= {fault.check for fault in faults}
        if found:
            break
    assert named(found) == PLANTS[plant]


def test_a_range_that_is_kept_is_found_by_those_told_others_first() -> None:
    found: set[str] = set()
    for case in block(6, 300):
        found |= {fault.check for fault in check(case, KeepsFirstRange) or ()}
    assert found
    assert all("-after-" in name for name in found)


def test_what_is_right_has_no_fault() -> None:
    assert [fault for case in block(7, 600) for fault in check(case, ExactSession) or ()] == []


def test_most_of_what_is_assumed_holds_somewhere() -> None:
    assuming = [case for case in block(8, 1500) if case.constraints]
    claimed = [case for case in assuming if observed(case) is not None]
    assert len(claimed) > 0.55 * len(assuming) > 200


def case_of(text: str, *ranges: tuple[str, int, int], dtype: str = "int32") -> ExpressionCase:
    variables = tuple(Variable(name, dtype, low, high) for name, low, high in ranges)
    names = {each.name: expressions.variable(each) for each in variables}
    return ExpressionCase(variables, parse(text, names, dtype))


class WrongFarAway(ExactSession):
    """Takes what is large for infinite: right at all values that are tried one by one."""

    def rewritten(self, how: str, handle: Expression) -> Expression:
        if how != "simplify" or handle.dtype != "int32":
            return handle
        return apply("min", handle, constant(100_000))


def test_what_is_wrong_far_away_is_found_by_the_solver_alone() -> None:
    pytest.importorskip("z3", reason="z3-solver is not installed")
    case = case_of("x // 2 * 2 + x % 2", ("x", 0, 7))
    assert check(case, WrongFarAway) == ()
    assert unbounded.check(case, ExactSession) == ()
    (fault,) = unbounded.check(case, WrongFarAway)
    assert fault.check == "simplify-unbounded"
    assert fault.witness["x"] > 100_000
    conditional = msgspec.structs.replace(
        case, constraints=(case_of("x < 50", ("x", 0, 7)).expression,)
    )
    # Of a wide range the session has some values alone, so that its bounds are not exact.
    found = {one.check for one in unbounded.check(conditional, WrongFarAway)}
    assert "simplify-unbounded" not in found


class SmallAlways(ExactSession):
    """Says of all that is large what is so of the values from 0 to 7 alone."""

    def values(self, *expressions: Expression) -> list[Any]:
        near = tuple(msgspec.structs.replace(each, low=0, high=7) for each in self.variables)
        wide, self.variables = self.variables, near
        try:
            return super().values(*expressions)
        finally:
            self.variables = wide


@pytest.mark.parametrize(
    ("text", "other", "check"),
    [
        ("x // 2", None, "const_int_bound"),
        ("x - x % 2 + x // 8", None, "modular_set"),
        ("x // 8 * 5", None, "modular_set"),
        ("x < 9", None, "can_prove"),
        ("x % 8", "x", "can_prove_equal"),
    ],
)
def test_what_is_said_and_is_wrong_far_away_is_found(
    text: str, other: str | None, check: str
) -> None:
    pytest.importorskip("z3", reason="z3-solver is not installed")
    case = case_of(text, ("x", 0, 7))
    if other is not None:
        case = msgspec.structs.replace(case, other=case_of(other, ("x", 0, 7)).expression)
    faults = unbounded.check(case, SmallAlways)
    assert f"{check}-unbounded" in {one.check for one in faults}
    assert all(one.witness["x"] > 7 for one in faults)


def test_a_search_far_away_tells_what_was_checked_and_what_was_not() -> None:
    pytest.importorskip("z3", reason="z3-solver is not installed")
    from tests.quality.unbounded import searched

    right = case_of("x // 2 * 2 + x % 2", ("x", 0, 7))
    not_modelled = case_of("x >> 1", ("x", 0, 7))

    class RaisesOfSome(WrongFarAway):
        def rewritten(self, how: str, handle: Expression) -> Expression:
            if handle.operator == "-":
                raise InternalError("no rule for it")
            return super().rewritten(how, handle)

    nothing = case_of("x // (x - x)", ("x", 0, 7))
    cases = (right, not_modelled, nothing, case_of("x - 1", ("x", 0, 7)))
    counts, wrong = searched(cases, RaisesOfSome)
    assert counts == {"checked": 1, "not modelled": 1, "claims nothing": 1, "TVM raises": 1}
    assert [(case, fault.check) for case, fault in wrong] == [(right, "simplify-unbounded")]


def test_a_fault_says_where() -> None:
    (fault,) = check(case_of("(x + 1) // 2", ("x", -3, 3)), TruncatesFloors) or ()
    assert fault.check == "canonical_simplify"
    assert fault.expression == "(x + 1) // 2"
    assert fault.witness == {"x": -2}
    assert fault.message == "gives truncdiv(x + 1, 2), which is 0, not -1"


class WrongModulusAlone(ExactSession):
    """Raises in a check before that of the modulus."""

    def bounds(self, handle: Expression) -> tuple[int | None, int | None]:
        raise InternalError("no bounds")

    def modular(self, handle: Expression) -> tuple[int, int]:
        return 0, -1


def test_the_checks_after_one_that_raises_are_made() -> None:
    faults = check(case_of("x + 1", ("x", 0, 3)), WrongModulusAlone) or ()
    assert [fault.check for fault in faults] == ["raises", "modular_set"]


@pytest.mark.parametrize("said", ["no bounds", "Divide by zero"])
def test_what_raises_before_anything_is_assumed_keeps_no_check_from_being_made(said: str) -> None:
    class RaisesWithoutConditions(ExactSession):
        def bounds(self, handle: Expression) -> tuple[int | None, int | None]:
            if not self.conditions:
                raise InternalError(said)
            return super().bounds(handle)

        def proves(self, claim: Expression, strong: bool) -> bool:
            return bool(self.conditions)

    case = case_of("if_then_else(x < 9, x, x // 0)", ("x", 0, 3))
    condition = case_of("x < 2", ("x", 0, 3)).expression
    faults = check(msgspec.structs.replace(case, constraints=(condition,)), RaisesWithoutConditions)
    raised = ["raises"] if said == "no bounds" else []
    assert [fault.check for fault in faults or ()] == [*raised, "can_prove"]


@pytest.mark.parametrize("raises", [False, True])
def test_who_is_asked_anew_leaves_no_condition_after_an_exception(raises: bool) -> None:
    told = []

    class Raises(ExactSession):
        @contextmanager
        def assuming(self, conditions: Sequence[Expression]) -> Any:
            self.conditions += conditions
            told.append("assumed")
            try:
                yield
            finally:
                told.append("left")

        def bounds(self, handle: Expression) -> tuple[int | None, int | None]:
            if raises or not self.conditions:
                raise InternalError("no bounds")
            return super().bounds(handle)

    case = case_of("x + 1", ("x", 0, 3))
    condition = case_of("x < 2", ("x", 0, 3)).expression
    faults = check(msgspec.structs.replace(case, constraints=(condition,)), Raises) or ()
    assert [fault.check for fault in faults] == ["raises"]
    # Where the bounds raise under the condition as well, the checks after them are asked once more.
    assert told == (["assumed", "assumed", "left"] if raises else ["assumed", "left"])


def test_fully_every_check_is_made_in_every_variant() -> None:
    factors = []

    class Wrong(KeepsFirstRange, ProvesTooMuchStrongly):
        def linear(self, handle: Expression, names: Sequence[str]) -> list[Expression]:
            factors.append(tuple(names))
            return []

    case = case_of("x + y", ("x", 0, 3), ("y", 0, 3))
    assert check(case, Wrong) == ()
    assert factors == [("x",)]
    factors.clear()
    found = [fault.check for fault in check(case, Wrong, fully=True) or ()]
    assert {"const_int_bound-after-range", "const_int_bound-after-value"} < set(found)
    assert found[-1] == "can_prove-strong"
    assert set(factors) == {("x",), ("x", "y")}


def test_to_refuse_what_never_has_a_value_is_no_fault() -> None:
    divides = case_of("if_then_else(x < 9, x, x // 0)", ("x", 0, 3))
    shifts = case_of("if_then_else(x < 9, x, x >> 32)", ("x", 0, 3))
    plain = case_of("x + 1", ("x", 0, 3))
    for said, refused in (("Divide by zero", divides), ("Shift amount must be", shifts)):

        class Refuses(ExactSession):
            def bounds(
                self,
                handle: Expression,
                said: str = said,
            ) -> tuple[int | None, int | None]:
                raise InternalError(said)

        assert check(refused, Refuses) == ()
        for other in {divides, shifts, plain} - {refused}:
            (fault,) = check(other, Refuses) or ()
            assert (fault.check, fault.message) == ("raises", f"InternalError: {said}")


@pytest.mark.parametrize("operator", ["x // 0", "x >> 32"])
def test_tvm_refuses_what_never_has_a_value(operator: str) -> None:
    assert check(case_of(f"if_then_else(x < y, x, {operator})", ("x", 0, 3), ("y", 0, 3))) == ()


def test_what_fails_here_is_no_fault_of_tvm(monkeypatch: pytest.MonkeyPatch) -> None:
    class Folds(ExactSession):
        def rewritten(self, how: str, handle: Expression) -> Expression:
            return constant(1)

    class Unread(Folds):
        def read(self, handle: Expression) -> Expression:
            raise NotRead("a node that ours has not")

    case = case_of("x + 1", ("x", 0, 3))
    with pytest.raises(NotRead):
        check(case, Unread)

    def evaluate(*given: object) -> Any:
        raise ValueError("a fault of ours")

    monkeypatch.setattr(answers, "evaluate", evaluate)
    with pytest.raises(ValueError, match="a fault of ours"):
        check(case, Folds)


def test_nothing_is_asked_where_nothing_is_claimed() -> None:
    zero = case_of("x // (y - y)", ("x", 0, 3), ("y", 0, 3))
    assert check(zero, Raises) is None
    never = (apply("<", constant(1), constant(0)),)
    assert check(ExpressionCase((), constant(1), never), ProvesTooMuch) is None
