"""Expressions checked in this process: blocks, single ones, what they come down to, and why."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.expressions.cases import ANALYZED, ExpressionCase
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.language import Expression, Variable, apply, nodes, variable
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions import execute as executing
from relaxcheck.harness.expressions.analyzer.dependence import related
from relaxcheck.harness.expressions.analyzer.observed import observed
from relaxcheck.harness.expressions.compiled import RAISES
from relaxcheck.harness.expressions.execute import execute_expressions
from relaxcheck.harness.expressions.fault import Asked, Fault
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from tests.harness.expressions.named_checks import asked

FAMILY = family()
POINT = complete(FAMILY.axes, {"kind": "tree", "depth": 3})
BLOCK = replace(FAMILY.build(POINT, 11), count=40)
X, Y = (Variable(name, "int64", low, 8) for name, low in (("x", 0), ("y", 1)))
x, y = variable(X), variable(Y)


def divides(subject: Problem) -> bool:
    return any(node.operator == "//" for node in nodes(subject.expression))


def planted(subject: Problem, *, fully: bool = False) -> tuple[Fault, ...]:
    return (Fault(Asked("simplify"), "divides", "", {}),) if divides(subject) else ()


@pytest.fixture
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executing, "check", planted)


def outcome_of(case: Any) -> Outcome:
    return execute_expressions(case, lambda stage: None)


@pytest.mark.usefixtures("_planted")
def test_a_block_says_which_of_its_expressions_failed() -> None:
    outcome = outcome_of(BLOCK)
    assert (outcome.verdict, outcome.checked) == (Verdict.PASS, 40)
    assert outcome.parts == tuple(member for member in BLOCK.members if divides(member.subject))
    assert 0 < len(outcome.parts) < 40


@pytest.mark.usefixtures("_planted")
def test_one_that_fails_comes_down_to_nothing_else() -> None:
    failing = max(outcome_of(BLOCK).parts, key=lambda part: len(str(part.subject.expression)))
    outcome = outcome_of(failing)
    assert (outcome.verdict, outcome.stage) == (Verdict.WRONG_VALUE, "analysis")
    assert (outcome.operator, outcome.message) == ("simplify", "divides")
    assert outcome.smallest is not None
    assert len(list(nodes(outcome.smallest.subject.expression))) == 3
    assert outcome.cause.startswith("//(")
    again = outcome_of(outcome.smallest)
    assert (again.smallest, again.cause) == (outcome.smallest, outcome.cause)


def test_stale_facts_of_the_analyzer_are_one_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = Fault(asked("simplify-after-value"), "", "", {})
    monkeypatch.setattr(executing, "check", lambda subject, fully=False: (fault,))
    assert {outcome_of(member).cause for member in BLOCK.members[:3]} == {"any"}


def test_errors_are_identified_by_their_message(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = Fault(Asked(RAISES), "InternalError: no", "", {})
    monkeypatch.setattr(executing, "check", lambda subject, fully=False: (fault,))
    outcome = outcome_of(BLOCK.members[0])
    assert (outcome.verdict, outcome.message) == (Verdict.OPAQUE_CRASH, "InternalError: no")
    assert (outcome.operator, outcome.cause, outcome.smallest) == (ANALYZED, "", None)


def subject(expression: Expression, *variables: Variable) -> Problem:
    return Problem(variables or (X, Y), expression)


def test_empty_claims_do_not_count_as_checked() -> None:
    block = replace(FAMILY.build(complete(FAMILY.axes, {"assumed": 2}), 3), count=60)
    claiming = [member for member in block.members if observed(member.subject) is not None]
    outcome = outcome_of(block)
    assert (outcome.verdict, outcome.checked) == (Verdict.PASS, len(claiming))
    assert 0 < len(claiming) < 60
    alone = next(member for member in block.members if member not in claiming)
    assert outcome_of(alone).verdict is Verdict.NO_ORACLE


def failing(checks: Mapping[str, str]) -> Callable[..., tuple[Fault, ...]]:
    """Each check fails where the expression has one of its operators; what raises says its name."""

    def check(subject: Problem, *, fully: bool = False) -> tuple[Fault, ...]:
        there = {node.operator for node in nodes(subject.expression)}
        return tuple(
            Fault(asked(name), text or f"{name} is off", "", {})
            for named, operators in checks.items()
            for name, _, text in [named.partition(" ")]
            if there & set(operators.split())
        )

    return check


MIXED = ExpressionCase(
    family="algebra",
    at=POINT,
    subject=subject(apply("*", apply("//", x, y), apply("%", x, y))),
)
"""Two divisions, neither within the other."""


@pytest.mark.parametrize(
    ("checks", "causes"),
    [
        ({"simplify": "//", "can_prove": "%"}, ["simplify //", "can_prove %"]),
        # Of one expression, and one rests on the other.
        ({"simplify": "//", "can_prove": "//"}, ["simplify //"]),
        ({"const_int_bound": "//", "modular_set": "//"}, ["const_int_bound //"]),
        # Neither rests on the other.
        ({"int_set": "//", "restored": "//"}, ["int_set //", "restored any"]),
        (
            {"int_set": "//", "detect_linear_equation": "//"},
            ["int_set //", "detect_linear_equation //"],
        ),
        # Whatever the first does not explain is looked into by itself, and told alike.
        (
            {"simplify": "//", "can_prove": "%", "can_prove_equal": "%"},
            ["simplify //", "can_prove %", "can_prove %"],
        ),
        # The second has a smallest expression of its own, of which the first fails as well.
        ({"simplify": "// %", "can_prove": "%"}, ["simplify //", "simplify %"]),
        ({"simplify": "//", "can_prove": "// %"}, ["simplify //"]),
        # Lines that only repeat another check.
        ({"simplify": "//", "can_prove-after-range": "%"}, ["simplify //"]),
        ({"restored": "//", "simplify": "%"}, ["restored any", "simplify %"]),
        # Of what was told before one is enough; who is asked for strong proofs was told nothing.
        (
            {"simplify-after-range": "//", "can_prove-after-range": "%", "can_prove-strong": "%"},
            ["simplify-after-range any", "can_prove-strong %"],
        ),
        (
            {"raises No: a": "//", "simplify-after-range": "//", "simplify-after-value": "%"},
            ["No: a", "simplify-after-range any"],
        ),
        # An exception is told by what it says.
        ({"raises No: a": "//", "simplify": "//"}, ["No: a", "simplify //"]),
        (
            {"simplify": "//", "raises No: a": "//", "raises No: b": "%"},
            ["simplify //", "No: a", "No: b"],
        ),
    ],
)
def test_every_cause_of_a_failure_is_listed(
    checks: dict[str, str], causes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executing, "check", failing(checks))
    whole = outcome_of(MIXED)
    answer = []
    for case, outcome in ((MIXED, whole), *((part, outcome_of(part)) for part in whole.parts)):
        assert case.subject == MIXED.subject
        assert outcome.parts == (whole.parts if case is MIXED else ())
        if outcome.verdict is Verdict.OPAQUE_CRASH:
            answer.append(outcome.message)
            continue
        answer.append(f"{outcome.operator} {outcome.cause.partition('(')[0]}")
        if outcome.cause == "any":
            continue
        # Its smallest case has the same message.
        assert outcome.smallest is not None
        again = outcome_of(outcome.smallest)
        assert (again.operator, again.cause) == (outcome.operator, outcome.cause)
        assert again.smallest == outcome.smallest
    assert answer == causes


def test_unrelated_checks_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executing, "check", failing({"simplify": "//", "modular_set": "%"}))
    outcome = outcome_of(MIXED)
    assert outcome.message == "simplify is off"
    (part,) = outcome.parts
    assert outcome_of(part).operator == "modular_set"
    monkeypatch.setattr(executing, "check", failing({"simplify": "//"}))
    assert outcome_of(part).verdict is Verdict.PASS


def test_other_failures_of_the_same_cause_are_listed_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checks = {"simplify": "//", "can_prove": "//", "modular_set": "%", "fold-after-value": "%"}
    monkeypatch.setattr(executing, "check", failing(checks))
    outcome = outcome_of(MIXED)
    assert outcome.message == "it also fails can_prove, fold-after-value\nsimplify is off"
    assert [part.about for part in outcome.parts] == ["modular_set"]


def test_one_cause_at_a_time_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    smallest = executing._smallest

    def counted(case: ExpressionCase, fault: Fault, *arguments: Any) -> ExpressionCase:
        made.append(fault.key)
        return smallest(case, fault, *arguments)

    monkeypatch.setattr(executing, "check", failing({"simplify": "//", "modular_set": "%"}))
    monkeypatch.setattr(executing, "_smallest", counted)
    (part,) = outcome_of(MIXED).parts
    assert made == ["simplify"]
    outcome_of(part)
    assert made == ["simplify", "modular_set"]


@pytest.mark.parametrize("name", ["fold", "fold-validity", "can_prove-strong"])
def test_checks_of_some_cases_alone_are_reduced_by_checking_all(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(subject: Problem, *, fully: bool = False) -> tuple[Fault, ...]:
        made = fully or subject == MIXED.subject
        return (Fault(asked(name), "is off", "", {}),) if made and divides(subject) else ()

    monkeypatch.setattr(executing, "check", check)
    outcome = outcome_of(MIXED)
    assert outcome.smallest is not None
    assert len(list(nodes(outcome.smallest.subject.expression))) == 3
    again = outcome_of(outcome.smallest)
    assert (again.operator, again.cause) == (name, outcome.cause)
    assert again.smallest == outcome.smallest


def test_related_checks_are_those_of_which_one_asks_the_other() -> None:
    assert related("can_prove", "const_int_bound")
    assert related("simplify", "rewrite_simplify")
    assert related("can_prove_equal", "fold")
    assert related("modular_set", "const_int_bound")
    assert not related("value", "index")
    assert not related("int_set", "detect_iter_map")
    assert not related("restored", "simplify")
