"""Checks of the analyzer's answers: far away, after exceptions, and where nothing has a value."""

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from tvm.error import InternalError

from relaxcheck.generators.emission.expressions import NotRead
from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.language import Expression, Variable, apply, constant
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.generators.expressions.text import parse
from relaxcheck.harness.expressions.analyzer import answers, check, unbounded
from tests.harness.expressions.exact_session import ExactSession
from tests.harness.expressions.planted_analyzers import (
    KeepsFirstRange,
    ProvesTooMuch,
    ProvesTooMuchStrongly,
    Raises,
    TruncatesFloors,
)


def case_of(text: str, *ranges: tuple[str, int, int], dtype: str = "int32") -> Problem:
    variables = tuple(Variable(name, dtype, low, high) for name, low, high in ranges)
    names = {each.name: expressions.variable(each) for each in variables}
    return Problem(variables, parse(text, names, dtype))


class WrongFarAway(ExactSession):
    """Takes what is large for infinite: right at all values that are tried one by one."""

    def rewritten(self, how: str, handle: Expression) -> Expression:
        if how != "simplify" or handle.dtype != "int32":
            return handle
        return apply("min", handle, constant(100_000))


def test_faults_far_away_are_found_by_the_solver_alone() -> None:
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
    result = {wrong.check for wrong in unbounded.check(conditional, WrongFarAway)}
    assert "simplify-unbounded" not in result


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
def test_wrong_answers_far_away_are_found(text: str, other: str | None, check: str) -> None:
    pytest.importorskip("z3", reason="z3-solver is not installed")
    case = case_of(text, ("x", 0, 7))
    if other is not None:
        case = msgspec.structs.replace(case, other=case_of(other, ("x", 0, 7)).expression)
    faults = unbounded.check(case, SmallAlways)
    assert f"{check}-unbounded" in {fault.check for fault in faults}
    assert all(fault.witness["x"] > 7 for fault in faults)


def test_a_search_far_away_tells_what_was_checked_and_what_was_not() -> None:
    pytest.importorskip("z3", reason="z3-solver is not installed")
    from tests.measure.quality.expressions.unbounded import searched

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
    assert fault.message == "gives truncdiv(x + 1, 2), which is 0, not -1 at x = -2"


class EndsTooEarly(ExactSession):
    def covering(self, handle: Expression, relaxed: Sequence[str]) -> Any:
        low, _ = super().covering(handle, relaxed)
        return low, low

    def deduced(self, condition: Expression, name: str) -> Any:
        return None, constant(6, "int32")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x % 3", "over x has the end 0; the expression is 1 at x = -2"),
        ("x < 3", "says that it holds for each x up to 6; the expression is 0 at x = 3"),
    ],
)
def test_an_answer_without_a_value_is_refuted_by_one(text: str, message: str) -> None:
    faults = check(case_of(text, ("x", -3, 3)), EndsTooEarly) or ()
    assert message in [fault.message for fault in faults]


class WrongModulusAlone(ExactSession):
    """Raises in a check before that of the modulus."""

    def bounds(self, handle: Expression) -> tuple[int | None, int | None]:
        raise InternalError("no bounds")

    def modular(self, handle: Expression) -> tuple[int, int]:
        return 0, -1


def test_the_checks_after_one_that_raises_are_made() -> None:
    faults = check(case_of("x + 1", ("x", 0, 3)), WrongModulusAlone) or ()
    assert [fault.check for fault in faults] == ["raises", "modular_set"]


@pytest.mark.parametrize("message", ["no bounds", "Divide by zero"])
def test_an_error_before_the_assumptions_prevents_no_check(
    message: str,
) -> None:
    class RaisesWithoutConditions(ExactSession):
        def bounds(self, handle: Expression) -> tuple[int | None, int | None]:
            if not self.conditions:
                raise InternalError(message)
            return super().bounds(handle)

        def proves(self, claim: Expression, strong: bool) -> bool:
            return bool(self.conditions)

    case = case_of("if_then_else(x < 9, x, x // 0)", ("x", 0, 3))
    condition = case_of("x < 2", ("x", 0, 3)).expression
    faults = check(msgspec.structs.replace(case, constraints=(condition,)), RaisesWithoutConditions)
    raised = ["raises"] if message == "no bounds" else []
    assert [fault.check for fault in faults or ()] == [*raised, "can_prove"]


@pytest.mark.parametrize("raises", [False, True])
def test_who_is_asked_anew_leaves_no_condition_after_an_exception(raises: bool) -> None:
    answer = []

    class Raises(ExactSession):
        @contextmanager
        def assuming(self, conditions: Sequence[Expression]) -> Any:
            self.conditions += conditions
            answer.append("assumed")
            try:
                yield
            finally:
                answer.append("left")

        def bounds(self, handle: Expression) -> tuple[int | None, int | None]:
            if raises or not self.conditions:
                raise InternalError("no bounds")
            return super().bounds(handle)

    case = case_of("x + 1", ("x", 0, 3))
    condition = case_of("x < 2", ("x", 0, 3)).expression
    faults = check(msgspec.structs.replace(case, constraints=(condition,)), Raises) or ()
    assert [fault.check for fault in faults] == ["raises"]
    # Where the bounds raise under the condition as well, the checks after them are asked once more.
    assert answer == (["assumed", "assumed", "left"] if raises else ["assumed", "left"])


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
    results = [fault.check for fault in check(case, Wrong, fully=True) or ()]
    assert {"const_int_bound-after-range", "const_int_bound-after-value"} < set(results)
    assert results[-1] == "can_prove-strong"
    assert set(factors) == {("x",), ("x", "y")}


def test_to_refuse_what_never_has_a_value_is_no_fault() -> None:
    divides = case_of("if_then_else(x < 9, x, x // 0)", ("x", 0, 3))
    shifts = case_of("if_then_else(x < 9, x, x >> 32)", ("x", 0, 3))
    plain = case_of("x + 1", ("x", 0, 3))
    for text, refused in (("Divide by zero", divides), ("Shift amount must be", shifts)):

        class Refuses(ExactSession):
            def bounds(
                self,
                handle: Expression,
                message: str = text,
            ) -> tuple[int | None, int | None]:
                raise InternalError(message)

        assert check(refused, Refuses) == ()
        for other in {divides, shifts, plain} - {refused}:
            (fault,) = check(other, Refuses) or ()
            assert (fault.check, fault.message) == ("raises", f"InternalError: {text}")


@pytest.mark.parametrize("operator", ["x // 0", "x >> 32"])
def test_tvm_refuses_what_never_has_a_value(operator: str) -> None:
    assert check(case_of(f"if_then_else(x < y, x, {operator})", ("x", 0, 3), ("y", 0, 3))) == ()


def test_failures_of_relaxcheck_are_no_fault_of_tvm(monkeypatch: pytest.MonkeyPatch) -> None:
    class Folds(ExactSession):
        def rewritten(self, how: str, handle: Expression) -> Expression:
            return constant(1)

    class Unread(Folds):
        def read(self, handle: Expression) -> Expression:
            raise NotRead("a node that ours has not")

    case = case_of("x + 1", ("x", 0, 3))
    with pytest.raises(NotRead):
        check(case, Unread)

    def evaluate(*arguments: object) -> Any:
        raise ValueError("a fault of ours")

    monkeypatch.setattr(answers, "evaluate", evaluate)
    with pytest.raises(ValueError, match="a fault of ours"):
        check(case, Folds)


def test_nothing_is_asked_where_nothing_is_claimed() -> None:
    zero = case_of("x // (y - y)", ("x", 0, 3), ("y", 0, 3))
    assert check(zero, Raises) is None
    never = (apply("<", constant(1), constant(0)),)
    assert check(Problem((), constant(1), never), ProvesTooMuch) is None


class SmallBounds(ExactSession):
    """Says of every expression that it is never above 0."""

    def bounds(self, handle: Expression) -> tuple[int | None, int | None]:
        return None, 0


def test_nothing_is_promised_of_ranges_in_which_a_narrow_integer_overflows() -> None:
    def asked(text: str, high: int, dtype: str, *given: str) -> set[str]:
        case = case_of(text, ("x", 0, high), dtype=dtype)
        conditions = tuple(case_of(each, ("x", 0, high), dtype=dtype).expression for each in given)
        case = msgspec.structs.replace(case, constraints=conditions)
        return {each.check.partition("-")[0] for each in check(case, SmallBounds) or ()}

    wrong = {"const_int_bound"}
    # 9 * 15 is no int8: TVM says nowhere that such an integer does not overflow, nor what then.
    assert asked("x * 9", 15, "int8") == set()
    assert asked("x * 9", 14, "int8") == wrong
    assert asked("x * 9", 15, "int8", "x < 5") == wrong
    assert asked("x * 9", 15, "int16") == wrong
    # Index types are taken not to overflow, and a division by 0 is no overflow.
    assert asked("x * 1000000000", 15, "int32") == wrong
    assert asked("9 // x", 3, "int8") == wrong
