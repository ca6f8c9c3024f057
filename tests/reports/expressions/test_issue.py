"""Scripts and issues of expressions: right where TVM is, wrong where what it answers is."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
import tvm
from msgspec.structs import replace
from tvm import relax, tirx

from relaxcheck.fixes.sym_api import analyzers as api
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.expressions.cases import (
    ANALYZED,
    EXTENT,
    INDEX,
    NEGATIVE,
    PARAMETER,
    SHAPE,
    UNDEFINED,
    VALUE,
    ExpressionCase,
)
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.language import Variable, variable
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.generators.expressions.text import parse
from relaxcheck.harness.expressions import analyzer
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.reports.expressions import issue as expression_issue
from relaxcheck.reports.expressions.behaviour import title_text
from relaxcheck.reports.expressions.issue import issue_text, script_text
from relaxcheck.reports.rendering import Came
from tests.harness.expressions.named_checks import asked

FAMILY = family()
X, Y = Variable("x", "int64", -3, 5), Variable("y", "int64", 0, 8)
BY_NAME = {symbol.name: variable(symbol) for symbol in (X, Y)}
VERSIONS = {"apache-tvm": "0.27.0", "numpy": "2.4"}


def member(position: str, text: str, **more: Any) -> ExpressionCase:
    def read(text: str) -> Any:
        return parse(text, BY_NAME, "int64")

    more = {key: read(value) if key == "other" else value for key, value in more.items()}
    more["constraints"] = tuple(map(read, more.get("constraints", ())))
    subject = Problem(variables=(X, Y), expression=read(text), **more)
    at = {**complete(FAMILY.axes, {}), "position": position}
    return ExpressionCase(family="algebra", at=at, subject=subject)


def details(check: str, *first: Variable, iterations: int | None = None) -> dict[str, Any]:
    return msgspec.to_builtins(asked(check, *first, iterations=iterations))  # type: ignore[no-any-return]


def wrong(check: str, *first: Variable, message: str = "") -> Outcome:
    return Outcome(Verdict.WRONG_VALUE, "analysis", check, message, details=details(check, *first))


def run(script: str, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """The exit code of the script; None where it says that all is right."""
    monkeypatch.setattr(sys, "argv", ["repro.py"])
    try:
        exec(compile(script, "repro.py", "exec"), {"__name__": "__main__", "__file__": "repro.py"})
    except SystemExit as end:
        return str(end.code) if end.code else None
    return None


def zero(self: Any, expression: Any, *more: Any) -> Any:
    return tirx.IntImm("int64", 0)


WRONG: dict[str, tuple[str, Callable[..., Any]]] = {
    "simplify": ("simplify", zero),
    "rewrite_simplify": ("rewrite_simplify", zero),
    "canonical_simplify-validity": ("canonical_simplify", zero),
    "const_int_bound": ("const_int_bound", lambda *_: api._SYM.ConstIntBound(0, 3)),
    "modular_set": ("modular_set", lambda *_: api._SYM.ModularSet(5, 1)),
    "int_set": (
        "int_set",
        lambda *_: api._SYM.IntervalSet(tirx.IntImm("int64", 0), tirx.IntImm("int64", 3)),
    ),
    "can_prove": ("can_prove", lambda *_: True),
    "can_prove-strong": ("can_prove", lambda *_: True),
    "can_prove_equal": ("can_prove_equal", lambda *_: True),
    "simplify-after-range": ("simplify", zero),
}


@pytest.mark.parametrize("check", WRONG)
def test_a_script_shows_a_wrong_answer_and_nothing_else(
    check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = member(ANALYZED, "x // 2 + y * 3", other="x // 2 + y", constraints=["y > x"])
    before = (Variable("x", "int64", 8, 9), Variable("y", "int64", -7, -6))
    script = script_text(case, wrong(check, *before), "A title", VERSIONS)
    assert script.count("analyzer.bind(x,") == (2 if "-after-" in check else 1)
    assert run(script, monkeypatch) is None
    method, answer = WRONG[check]
    monkeypatch.setattr(api._SYM.Analyzer, method, answer)
    assert (run(script, monkeypatch) or "").startswith("wrong: ")


def two(number: int) -> Any:
    return [tirx.IntImm("int64", 2)] * number


RELATIONS: list[tuple[str, str, Callable[..., Any]]] = [
    ("try_compare", "x * 2 + y", lambda *_: SimpleNamespace(name="LT")),
    ("try_compare", "x * 2 + y", lambda *_: SimpleNamespace(name="INCONSISTENT")),
    ("detect_linear_equation", "x * 2 + y", lambda value, names: [value] * (len(names) + 1)),
    ("detect_linear_equation", "x * 2 + y", lambda value, names: two(len(names) + 1)),
    ("deduce_bound", "x < 2", lambda *_: api._SYM.IntervalSet(*two(2))),
]


@pytest.mark.parametrize(("check", "expression", "answer"), RELATIONS)
def test_a_script_shows_a_wrong_answer_about_comparisons_and_sums(
    check: str, expression: str, answer: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = script_text(member(ANALYZED, expression), wrong(check), "A title", VERSIONS)
    assert run(script, monkeypatch) is None
    owner = api._SYM.Analyzer if check == "try_compare" else api._SYM
    monkeypatch.setattr(owner, check, answer)
    assert (run(script, monkeypatch) or "").startswith("wrong: ")


def test_every_question_to_the_analyzer_has_its_check_in_a_script() -> None:
    questions: set[str] = set()
    for path in Path(analyzer.__file__).parent.glob("*.py"):
        questions.update(re.findall(r"(?:fault|same)\(\s*\"([a-z_]+)", path.read_text()))
    assert questions > {"deduce_bound", "try_compare", "iter_map_simplify"}
    case = member(ANALYZED, "x // 2 + y * 3", other="x // 2 + y", constraints=["y > x"])
    for check in questions:
        assert "def faults():" in script_text(case, wrong(check), "A title", VERSIONS), check


@pytest.mark.parametrize("ranges", ["range", "scope", "bound", "nothing"])
def test_ranges_are_bound_as_in_the_case(ranges: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = member(ANALYZED, "max(y, -9)", means=ranges)
    script = script_text(case, wrong("simplify"), "A title", {})
    seen = []
    simplify = api._SYM.Analyzer.simplify

    def keep(self: Any, expression: Any, *more: Any) -> Any:
        seen.append(str(simplify(self, expression, *more)))
        return simplify(self, expression, *more)

    monkeypatch.setattr(api._SYM.Analyzer, "simplify", keep)
    assert run(script, monkeypatch) is None
    assert (seen == ["y"]) is (ranges != "nothing")


def test_conditions_that_stay_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    case = member(ANALYZED, "x + 1", constraints=["x >= 2"])
    script = script_text(case, wrong("restored"), "A title", VERSIONS)
    assert run(script, monkeypatch) is None
    scope = type(api.analyzer().core.constraint_scope(tirx.IntImm("bool", 1)))
    monkeypatch.setattr(scope, "__exit__", lambda *_: None)
    assert (run(script, monkeypatch) or "").startswith("wrong: after the conditions")


def test_a_comparison_of_constants_has_no_variable_to_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = member(ANALYZED, "0 < 1")
    alone = msgspec.structs.replace(
        case, subject=msgspec.structs.replace(case.subject, variables=())
    )
    outcome = Outcome(Verdict.OPAQUE_CRASH, "analysis", ANALYZED, "InternalError: no, never")
    script = script_text(alone, outcome, "A title", VERSIONS)
    assert "deduce_bound" not in script
    assert run(script, monkeypatch) is None
    assert "deduce_bound(x," in script_text(member(ANALYZED, "x < 1"), outcome, "A title", VERSIONS)


@pytest.mark.parametrize(
    ("position", "check", "text"),
    [
        (VALUE, "value", "x % (y + 1)"),
        (VALUE, "value", "x // y"),
        (INDEX, "index", "x * 2 + y"),
        (INDEX, "index-reversed", "x // 2 - y"),
        (SHAPE, "shape", "(x + 4) // (y + 1)"),
        (PARAMETER, "parameter", "(x + 4) // (y + 1)"),
        (EXTENT, "extent", "(x + 4) // (y + 1)"),
    ],
)
def test_a_script_of_what_is_compiled_computes_it(
    position: str, check: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = member(position, text)
    result = details(check, iterations=5)
    outcome = Outcome(Verdict.WRONG_VALUE, "compiled", check, details=result)
    script = script_text(case, outcome, "A title", VERSIONS)
    assert run(script, monkeypatch) is None
    right = expression_issue.node_text
    monkeypatch.setattr(
        expression_issue,
        "node_text",
        lambda node: f"tirx.Max({right(node)}, {right(BY_NAME['y'])})",
    )
    other = script_text(case, outcome, "A title", VERSIONS)
    # A read beyond the table need not be wrong, but none happens at the points of the others.
    assert (run(other, monkeypatch) or "").startswith("wrong:")


def test_a_process_that_ends_is_seen_from_outside() -> None:
    case = member(SHAPE, "x + y")
    died = Outcome(Verdict.PROCESS_DEATH, "compiled", None, "worker ended with SIGFPE in compiled")
    script = script_text(case, died, "A title", VERSIONS)
    assert 'if "--here" not in sys.argv' in script
    assert title_text(case, died).startswith("an expression as a size ends the process: x + y")


def test_where_there_is_no_value_an_error_is_as_good_as_a_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    defined = member(SHAPE, "x // (y + 1)")
    case = replace(defined, at={**defined.at, "points": "undefined"})
    other = replace(case, subject=member(SHAPE, "x * 4611686018427387904").subject)
    for compiled, expected in ((defined, "got != right"), (other, "as good as any result")):
        script = script_text(compiled, Outcome(Verdict.PASS), "A title", VERSIONS)
        assert expected in script
        assert run(script, monkeypatch) is None


def test_a_negative_extent_without_a_message_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    defined = member(EXTENT, "y - 3")
    case = replace(defined, at={**defined.at, "points": "negative"})
    died = Outcome(Verdict.OPAQUE_CRASH, "compiled", EXTENT, "InternalError: std::bad_alloc")
    text = run(script_text(case, died, "A title", VERSIONS), monkeypatch) or ""
    assert text == "wrong: at (0, 0) it is -3, and all that is said: std::bad_alloc"


@pytest.mark.parametrize("building", [True, False])
@pytest.mark.parametrize(
    ("message", "exits"),
    [("it is at most -1", None), ("int-1", "wrong: "), ("-2", "wrong: ")],
)
def test_a_number_that_an_error_tells_stands_by_itself(
    message: str, exits: str | None, building: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    defined = member(EXTENT, "y % 1 - 1")
    case = replace(defined, at={**defined.at, "points": "negative"})
    died = Outcome(Verdict.OPAQUE_CRASH, "compiled", EXTENT, "InternalError: std::bad_alloc")
    script = script_text(case, died, "A title", VERSIONS)

    def fail(*_: Any) -> None:
        raise ValueError(f"{message}\n\nError in pass: P\nLocation (TVMScript):\nan extent of -1")

    if building:
        monkeypatch.setattr(relax, "build", fail)
    else:
        monkeypatch.setattr(relax, "VirtualMachine", lambda *_: {"main": fail})
    result = run(script, monkeypatch)
    assert (result is None) if exits is None else (result or "").startswith(exits)


REFUSALS: dict[str, tuple[Callable[[int, int], str | None], str | None]] = {
    "parameter": (lambda right, size: f"no {size}, but {right}", "a tensor of {} is refused"),
    "parameter-accepted": (lambda right, size: None, "is accepted"),
    "parameter-untold": (
        lambda right, size: f"int{right}, not {size}" * (size != right) or None,
        "but: int",
    ),
    "parameter-computed": (
        lambda right, size: f"no: ({size} vs. {right - 1}) : x" * (size != right) or None,
        "and is computed otherwise: no: ({1} vs. ",
    ),
    "right": (lambda right, size: f"no {size}, but {right}" * (size != right) or None, None),
}


@pytest.mark.parametrize("check", REFUSALS)
def test_a_script_of_a_parameter_gives_it_other_sizes(
    check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal, wanted = REFUSALS[check]
    arguments = []

    def main(sizes: Any, tensor: Any) -> None:
        right, size = int(sizes[1]), int(tensor.shape[0])
        arguments.append((right, size))
        if (text := refusal(right, size)) is not None:
            raise ValueError(text)

    outcome = Outcome(Verdict.WRONG_VALUE, "compiled", check, details=details(check))
    script = script_text(member(PARAMETER, "y"), outcome, "A title", VERSIONS)
    monkeypatch.setattr(relax, "VirtualMachine", lambda *_: {"main": main})
    result = run(script, monkeypatch)
    right, size = arguments[-1]
    assert (result is None) if wanted is None else (wanted.format(size, size) in (result or ""))
    assert (right == size) is (check == "parameter")


@pytest.mark.parametrize("position", [SHAPE, PARAMETER, EXTENT])
@pytest.mark.parametrize("raising", [True, False])
def test_a_script_of_what_has_no_value_calls_it_there(
    position: str, raising: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    defined = member(position, "x // y")
    case = replace(defined, at={**defined.at, "points": "undefined"})
    died = Outcome(Verdict.PROCESS_DEATH, "compiled", None, "worker ended with SIGFPE in compiled")
    script = script_text(case, died, "A title", VERSIONS)
    divisors = []

    def main(sizes: Any, *tensors: Any) -> Any:
        divisors.append(int(sizes[1]))
        if raising:
            raise ValueError("divide by zero")
        return tvm.runtime.ShapeTuple([1]) if position == SHAPE else np.zeros(1, "int8")

    monkeypatch.setattr(relax, "VirtualMachine", lambda *_: {"main": main})
    monkeypatch.setattr(sys, "argv", ["repro.py", "--here"])
    exec(compile(script, "repro.py", "exec"), {"__name__": "__main__", "__file__": "repro.py"})
    assert set(divisors) == {0}


def test_an_issue_says_what_is_wrong_where() -> None:
    case = member(ANALYZED, "x // 2")
    outcome = wrong("simplify-validity-after-range", message="gives 1, told x in [8, 9] first")
    title = title_text(case, outcome)
    assert title.startswith("simplify (ranges told anew) adds an overflow or a division by zero to")
    assert "x // 2 with x: int64 in [-3, 5]" in title
    releases = {"0.25": Came(Verdict.PASS), "0.27": Came(Verdict.WRONG_VALUE, True)}
    text = issue_text(case, outcome, title, "the script\n", VERSIONS, releases, "issues/1")
    assert text.startswith(f"[Bug][Arith] {title}\n")
    for wanted in ("| 0.25 | passes |", "the script", "issues/1", "* numpy 2.4", "gives 1, told x"):
        assert wanted in text


def test_cases_with_fixes_or_without_a_failure_have_no_script() -> None:
    case = member(ANALYZED, "x")
    with pytest.raises(CaseError, match="nothing to be shown"):
        script_text(case, Outcome(Verdict.HARNESS_ERROR), "A title", {})
    fixed = ExpressionCase(family="algebra", at=case.at, subject=case.subject, fixes=True)
    with pytest.raises(CaseError, match="has the fixes on"):
        script_text(fixed, wrong("simplify"), "A title", {})


def test_an_issue_names_functions_as_they_are_and_no_checks_of_ours() -> None:
    case = member(ANALYZED, "x // 2")
    message = "it also fails canonical_simplify, raises, can_prove\ngives 1, which is 1, not 2"
    text = issue_text(case, wrong("simplify", message=message), "It", "", VERSIONS, {}, None)
    assert "\n`simplify` changes the value of x // 2 with x: int64 in [-3, 5]" in text
    assert "```\nsimplify gives 1, which is 1, not 2\n```" in text
    assert "\n`canonical_simplify` and `can_prove` give wrong answers about it as well.\n" in text
    assert "it also fails" not in text
    died = Outcome(
        Verdict.PROCESS_DEATH, "analysis", message="worker ended with SIGFPE in analysis"
    )
    text = issue_text(case, died, "It", "", VERSIONS, {}, None)
    assert "The analyzer ends the process: x // 2 with" in text
    assert "the process ended with SIGFPE" in text
    crash = Outcome(Verdict.OPAQUE_CRASH, "codegen", message="InternalError: no")
    text = issue_text(member(INDEX, "x // 2"), crash, "It", "", VERSIONS, {}, None)
    assert "\nAn expression as an index raises an error: x // 2 with" in text


def test_an_issue_names_the_conditions_and_what_is_expected_elsewhere() -> None:
    case = member(ANALYZED, "x", constraints=["x >= 2", "y > x"])
    title = title_text(case, wrong("modular_set"))
    assert title.endswith("y: int64 in [0, 8], where x >= 2 and y > x")
    died = Outcome(
        Verdict.PROCESS_DEATH, "compiled", message="worker ended with SIGFPE in compiled"
    )
    for points, sentence in (
        (UNDEFINED, "Where it has none, the process"),
        (NEGATIVE, "Where it is negative"),
    ):
        case = member(SHAPE, "8 // x")
        there = replace(case, at={**case.at, "points": points})
        text = issue_text(there, died, "It", "", VERSIONS, {}, None)
        assert f"wherever it has a value. {sentence}" in text
