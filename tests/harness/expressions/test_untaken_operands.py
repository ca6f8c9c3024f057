"""Operands that are not used: they may overflow, and must not divide by zero."""

import pytest

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.cases import INDEX, VALUE
from relaxcheck.generators.expressions.language import Expression, Variable
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.generators.expressions.text import parse
from relaxcheck.harness.expressions.analyzer import check
from relaxcheck.harness.expressions.fault import Fault
from relaxcheck.harness.expressions.kernel_plans import kernel_plan
from tests.harness.expressions.exact_session import ExactSession

X, Y = (Variable(name, "uint16", 0, 7) for name in "xy")
NAMES = {each.name: expressions.variable(each) for each in (X, Y)}

RIGHT = (
    ("select(y == 0, 0, y) - y", "select(y == 0, 0 - y, 0)"),
    (
        "select(x <= x, x % 4, 0) - select(x <= x, x % 4, x)",
        "select(x <= x, x % 4 - x % 4, 0 - x)",
    ),
    ("select(x < 1, 1, x) - 1", "select(x < 1, 0, x - 1)"),
    ("if_then_else(y == 0, x, x // y) + 1", "if_then_else(y == 0, x + 1, x // y + 1)"),
    ("x < y", "0 < y and x <= y - 1"),
    ("x >= y", "x > y - 1 or 0 >= y"),
)
"""An expression, and an answer whose operands have no value where they are not used."""

WRONG = (
    ("select(y == 0, 0, y) - y", "select(y == 0, 0 - y, 0 // y)"),
    ("if_then_else(y == 0, x, x // y) + 1", "select(y == 0, x + 1, x // y + 1)"),
    ("select(x < 1, 1, x) - 1", "select(x < 1, x - 1, x - 1)"),
    ("x < y", "select(x <= y - 1, 0 < y, 0 < x - x)"),
    ("x >= y", "x > y - 1 or 0 > y"),
    ("if_then_else(y == 0, 0, x // y) < 9", "y == 0 or x // y < 9"),
)
"""An expression, and an answer that divides by zero, or that uses what overflows."""


def problem(text: str) -> Problem:
    return Problem((X, Y), parse(text, NAMES, "uint16"))


def faults(text: str, answer: str) -> tuple[Fault, ...]:
    new = parse(answer, NAMES, "uint16")

    class Answers(ExactSession):
        def rewritten(self, how: str, handle: Expression) -> Expression:
            return new if how == "simplify" else handle

    return check(problem(text), Answers) or ()


@pytest.mark.parametrize(("text", "answer"), RIGHT)
def test_unused_operands_may_have_no_value(text: str, answer: str) -> None:
    assert faults(text, answer) == ()


@pytest.mark.parametrize(("text", "answer"), WRONG)
def test_computed_operands_may_not_stop_and_used_ones_may_not_overflow(
    text: str, answer: str
) -> None:
    assert {fault.check.partition("-after-")[0] for fault in faults(text, answer)} == {
        "simplify-validity"
    }


@pytest.mark.parametrize("text", [text for text, _ in RIGHT[:3]])
def test_answers_of_tvm_divide_by_nothing_and_overflow_nowhere(text: str) -> None:
    result = check(problem(text), fully=True)
    assert result is not None
    assert [fault for fault in result if fault.asked.validity] == []


def test_an_index_beyond_int64_is_not_compiled() -> None:
    declared = Variable("w", "int32", -3, 4)
    wide = expressions.converted(expressions.variable(declared), "uint64")
    subject = Problem((declared,), wide)
    assert kernel_plan(subject, VALUE) is not None
    assert kernel_plan(subject, INDEX) is None
