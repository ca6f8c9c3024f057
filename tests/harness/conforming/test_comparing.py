"""Where two pipelines differ, and what has one cause."""

from dataclasses import replace

import msgspec
import pytest

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.conforming.comparing import (
    Cell,
    Difference,
    Pair,
    Standing,
    cell_of,
    differences,
    merged,
)
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.reports.tables.conformity import better, lines, title

RIGHT = Cell(Verdict.PASS)


def case(operator: str, *sizes: int) -> Case:
    program = Program((Input("x", sizes, "float32"),), (Node("y", operator, ("x",)),), ("y",))
    return Case(operator, program, pipeline="mine:passes")


def failed(made: Case, verdict: Verdict, stage: str | None, message: str = "no") -> Cell:
    return cell_of(made, Outcome(verdict, stage, None, message))


EXP = case("exp", 4)
WRONG = failed(EXP, Verdict.WRONG_VALUE, "compare")
CRASH = failed(EXP, Verdict.OPAQUE_CRASH, "codegen")
REFUSED = failed(EXP, Verdict.UNSUPPORTED, "LegalizeOps")
SPLIT = failed(EXP, Verdict.ORACLE_SPLIT, "compare")


@pytest.mark.parametrize(
    ("theirs", "tvms", "standing"),
    [
        (RIGHT, RIGHT, Standing.RIGHT),
        (WRONG, RIGHT, Standing.WORSE),
        (RIGHT, WRONG, Standing.BETTER),
        (WRONG, CRASH, Standing.WORSE),
        (REFUSED, CRASH, Standing.BETTER),
        (CRASH, CRASH, Standing.ALIKE),
        (SPLIT, RIGHT, Standing.UNDECIDED),
        (WRONG, SPLIT, Standing.UNDECIDED),
    ],
)
def test_the_less_severe_failure_is_better(theirs: Cell, tvms: Cell, standing: Standing) -> None:
    assert Pair(EXP, theirs, tvms).standing is standing


def test_an_invalid_program_that_computes_is_worse() -> None:
    invalid = msgspec.structs.replace(EXP, expect=Invalid("exp", ("x",)))
    cell = failed(invalid, Verdict.ACCEPTS_INVALID, "run")
    assert Pair(invalid, cell, Cell(Verdict.REJECTED)).standing is Standing.WORSE
    unclear = failed(invalid, Verdict.OPAQUE_CRASH, "emit")
    assert Pair(invalid, unclear, cell).standing is Standing.BETTER


def test_a_result_that_nothing_constrains_is_right() -> None:
    check = Check({}, "y", None, (), elements=4, unconstrained=4)
    outcome = Outcome(Verdict.NO_ORACLE, "compare", oracles=("pytorch",), checks=(check,))
    assert cell_of(EXP, outcome).verdict is Verdict.PASS


def test_a_cell_is_kept_as_it_is() -> None:
    assert msgspec.json.decode(msgspec.json.encode(CRASH), type=Cell) == CRASH


def test_one_operator_is_one_cause_and_its_smallest_case_is_shown() -> None:
    made = [case("exp", 9, 9), case("exp", 2), case("tanh", 3)]
    pairs = [Pair(each, failed(each, Verdict.WRONG_VALUE, "compare"), RIGHT) for each in made]
    first, second = differences([*pairs, Pair(EXP, RIGHT, RIGHT), Pair(EXP, CRASH, CRASH)])
    assert (len(first.pairs), first.operators, first.example) == (2, ("exp",), made[1])
    assert second.operators == ("tanh",)


def test_an_error_in_a_pass_is_one_cause_whatever_the_operator() -> None:
    made = [case("exp", 2), case("tanh", 3)]
    pairs = [Pair(each, failed(each, Verdict.OPAQUE_CRASH, "MyPass"), RIGHT) for each in made]
    (only,) = differences(pairs)
    assert only.operators == ("exp", "tanh")
    assert title(only) == "exp, tanh: opaque-crash at MyPass: no"


def test_the_worst_comes_first_and_causes_of_one_pass_are_one() -> None:
    made = [case("exp", 2), case("tanh", 3), case("sin", 5), case("cos", 4)]
    verdicts = [Verdict.OPAQUE_CRASH, *[Verdict.WRONG_VALUE] * 3]
    pairs = [
        Pair(each, failed(each, verdict, "run"), RIGHT)
        for each, verdict in zip(made, verdicts, strict=True)
    ]
    found = differences(pairs)
    assert [each.severity for each in found] == [Severity.WRONG_RESULT] * 3 + [Severity.CRASH]
    blamed = [
        replace(each, culprit="MyPass" if each.operators[0] in ("tanh", "sin", "exp") else "")
        for each in found
    ]
    together = merged(blamed)
    assert [(each.culprit, len(each.pairs)) for each in together] == [
        ("MyPass", 2),
        ("", 1),
        ("MyPass", 1),
    ]
    assert together[0].example.family == "tanh"
    assert title(together[0]).startswith("MyPass: tanh, sin: wrong-value at run")


def test_lines_end_with_the_command() -> None:
    only = Difference((Pair(EXP, WRONG, RIGHT),), EXP, WRONG, "MyPass", "without it, it is right")
    printed = list(lines([only], {EXP.identifier: "relaxcheck replay x.json"}))
    assert printed[0] == "1. wrong result, 1 case: MyPass: exp: wrong-value at compare: no"
    assert printed[1] == "   smallest case: exp, pipeline mine:passes"
    assert printed[2:] == ["   without it, it is right", "   relaxcheck replay x.json"]


def test_what_only_tvm_gets_wrong_is_said() -> None:
    assert better([Pair(EXP, WRONG, RIGHT)]) == ""
    line = better([Pair(EXP, RIGHT, REFUSED), Pair(case("tanh", 2), RIGHT, WRONG)])
    assert "on 2 cases of exp, tanh; the worst is wrong-value: no" in line
