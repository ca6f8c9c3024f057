"""The search for the pass that breaks a case, on pipelines whose faults are known."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.harness.outcomes.outcome import DESCRIPTIONS, Outcome, Verdict
from relaxcheck.harness.triage.bisection.search import (
    INVALID,
    Evidence,
    Trial,
)
from tests.harness.triage.bisection.concluding import (
    CASE,
    RIGHT,
    UNUSABLE,
    WRONG,
    conclude,
    verdicts,
)


@given(data=st.data())
def test_the_optional_pass_that_breaks_it_is_named(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(("needed", "optional", "idle")), max_size=8))
    steps = [f"{kind}{number}" for number, kind in enumerate([*kinds, "optional"])]
    culprit = data.draw(st.sampled_from([step for step in steps if step.startswith("optional")]))

    def judge(trial: Trial) -> Outcome:
        if any(step.startswith("needed") for step in trial.without):
            return UNUSABLE
        return RIGHT if culprit in trial.without else WRONG

    ended = conclude(steps, judge)
    result = ended.result
    assert (result.culprit, result.evidence) == (culprit.strip("0123456789"), Evidence.PREFIX)
    assert result.before == f"old {culprit}\n"
    changing = [step for step in steps if not step.startswith("idle")]
    at = changing.index(culprit)
    wanted = [(None, "pass")] + [
        (step, "needed" if step.startswith("needed") else "wrong-value" if n >= at else "pass")
        for n, step in enumerate(changing)
    ]
    assert verdicts(result) == wanted
    assert {row.step.path: row.verdict for row in result.ablations if row.step} == {
        step: Verdict.PASS if step == culprit else Verdict.WRONG_VALUE
        for step in changing
        if step.startswith("optional")
    }
    assert len(ended.trials) <= 2 * len(changing) + 6
    # Each decision is taken by runs without shortcuts: the whole, with the culprit, without it.
    assert sum(trial.plain for trial in ended.trials) <= 3


def test_of_two_passes_that_break_it_the_first_is_named() -> None:
    def judge(trial: Trial) -> Outcome:
        return RIGHT if {"a", "c"} <= set(trial.without) else WRONG

    result = conclude(["a", "b", "c"], judge).result
    assert result.culprit == "a"
    assert result.why.endswith("and the whole pipeline without it gives wrong values")


def test_of_two_passes_that_break_it_together_the_second_is_named() -> None:
    def judge(trial: Trial) -> Outcome:
        return RIGHT if {"a", "c"} & set(trial.without) else WRONG

    result = conclude(["a", "b", "c"], judge).result
    assert result.culprit == "c"
    assert [row.verdict for row in result.ablations] == ["pass", "wrong-value", "pass"]


def test_of_two_passes_of_which_one_will_do_the_first_stays() -> None:
    def judge(trial: Trial) -> Outcome:
        if {"a", "b"} <= set(trial.without):
            return UNUSABLE
        return RIGHT if "c" in trial.without else WRONG

    result = conclude(["a", "b", "c"], judge).result
    assert result.culprit == "c"
    assert verdicts(result) == [
        (None, "pass"),
        ("a", "needed"),
        ("b", "pass"),
        ("c", "wrong-value"),
    ]


def test_a_crash_is_the_pass_s_that_crashed() -> None:
    crash = Outcome(Verdict.OPAQUE_CRASH, "inner", "toy.op", "InternalError: Check failed: 3")

    def judge(trial: Trial) -> Outcome:
        return RIGHT if "broken" in trial.without else crash

    result = conclude(["a"], judge, unfinished="broken").result
    assert (result.culprit, result.evidence) == ("broken", Evidence.PREFIX)


ILL_FORMED = Outcome(Verdict.OPAQUE_CRASH, "victim", "toy.op", "InternalError: no definition")


def test_a_crash_over_an_ill_formed_module_is_the_pass_s_that_made_it_so() -> None:
    def judge(trial: Trial) -> Outcome:
        return RIGHT if {"victim", "breaks"} & set(trial.without) else ILL_FORMED

    steps = ["a", "breaks", "b"]
    result = conclude(steps, judge, "victim", breaks="breaks").result
    assert (result.culprit, result.evidence) == ("breaks", Evidence.ILL_FORMED)
    assert result.before == "old breaks\n"
    assert result.why == (
        "after breaks, TVM's `well_formed` refuses the module, as it did not before, and the "
        "program raises an error in victim; without breaks it is right"
    )
    # It was well formed all the time.
    result = conclude(steps, judge, "victim").result
    assert (result.culprit, result.evidence) == ("victim", Evidence.PREFIX)


def test_an_ill_formed_module_that_the_error_does_not_take_is_not_to_blame() -> None:
    result = conclude(
        ["breaks"],
        lambda trial: RIGHT if "victim" in trial.without else ILL_FORMED,
        "victim",
        breaks="breaks",
    ).result
    assert (result.culprit, result.evidence) == ("victim", Evidence.PREFIX)


@pytest.mark.parametrize("outcome", [WRONG, msgspec.structs.replace(ILL_FORMED, stage="run")])
def test_of_a_program_that_compiles_nobody_asks_if_it_is_well_formed(outcome: Outcome) -> None:
    ended = conclude(
        ["a", "breaks"], lambda t: RIGHT if "a" in t.without else outcome, breaks="breaks"
    )
    assert (ended.result.culprit, ended.result.evidence) == ("a", Evidence.PREFIX)
    assert not any(trial.formed for trial in ended.trials)


def test_a_crash_that_the_shortest_way_has_too_is_in_the_pass_that_crashed() -> None:
    crash = Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", "toy.op", "AssertionError: channels")

    def judge(trial: Trial) -> Outcome:
        return UNUSABLE if "LegalizeOps" in trial.without else crash

    result = conclude(["a"], judge, unfinished="LegalizeOps").result
    assert (result.culprit, result.evidence) == ("LegalizeOps", Evidence.RAISED)
    assert result.ablations == ()


@pytest.mark.parametrize("converted", [True, False])
def test_a_call_is_left_by_the_pass_that_made_it_so(converted: bool) -> None:
    bail = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "toy.op", "left after LegalizeOps: y")

    def judge(trial: Trial) -> Outcome:
        if "LegalizeOps" in trial.without:
            return UNUSABLE
        return RIGHT if converted and "ConvertLayout" in trial.without else bail

    result = conclude(["ConvertLayout", "LegalizeOps", "ToNonDataflow"], judge).result
    assert result.culprit == ("ConvertLayout" if converted else "LegalizeOps")
    assert result.evidence == (Evidence.PREFIX if converted else Evidence.RAISED)
    # Passes after the call was left have nothing to do with it.
    assert "ToNonDataflow" not in dict(verdicts(result))


def test_of_an_invalid_program_no_pass_is_looked_for() -> None:
    invalid = msgspec.structs.replace(CASE, expect=Invalid("toy.first", ("groups",)))
    accepted = Outcome(Verdict.ACCEPTS_INVALID, "run", "toy.first", "compiled and ran")
    ended = conclude(["hides", "LegalizeOps"], lambda trial: accepted, case=invalid)
    assert (ended.result.culprit, ended.result.evidence) == (None, Evidence.NONE)
    assert ended.result.why == INVALID
    assert len(ended.trials) == 1


def test_failures_that_need_shortcuts_name_nobody() -> None:
    def judge(trial: Trial) -> Outcome:
        return RIGHT if "a" in trial.without and not trial.plain else WRONG

    result = conclude(["a", "b"], judge).result
    assert result.culprit is None
    assert "did not come again" in result.why


@pytest.mark.parametrize("last", ["codegen", "load"])
def test_crashes_outside_all_passes_name_nobody(last: str) -> None:
    death = Outcome(Verdict.PROCESS_DEATH, last, None, f"worker ended with SIGSEGV in {last}")
    result = conclude(["a"], lambda trial: death).result
    assert (result.culprit, result.evidence) == (None, Evidence.NONE)
    assert {"codegen": "in code generation", "load": "when it is loaded"}[last] in result.why


def test_a_death_in_a_pass_is_that_pass_s() -> None:
    death = Outcome(Verdict.PROCESS_DEATH, "b", None, "worker ended with SIGSEGV in b")
    result = conclude(["a"], lambda t: RIGHT if "b" in t.without else death, "b").result
    assert result.culprit == "b"


def test_the_first_node_that_is_wrong_is_named() -> None:
    def judge(trial: Trial) -> Outcome:
        return RIGHT if trial.case.program.outputs == ("y",) or "a" in trial.without else WRONG

    result = conclude(["a"], judge).result
    assert result.node is not None
    assert (result.node.node, result.operator) == ("z", "toy.second")


def test_an_ending_has_the_symbols_that_its_nodes_have() -> None:
    cast = Node("y", "match_cast", ("x",), {"shape": ShapeValue(("k",)), "dtype": "float32"})
    nodes = (Node("w", "toy.first", ("x",)), cast, Node("z", "toy.second", ("y", "w")))
    program = Program((Input("x", ("m",), "float32"),), nodes, ("z",))
    case = Case("toy", program, ({"m": 2, "k": 2},))
    ended = conclude(["a"], lambda trial: RIGHT if "a" in trial.without else WRONG, case=case)
    assert ended.result.node is not None
    assert ended.result.node.node == "w"
    (trial,) = (each for each in ended.trials if each.case.program.outputs == ("w",))
    assert trial.case.bindings == ({"m": 2},)


def test_an_ending_has_the_functions_that_it_calls() -> None:
    own = Program((Input("a", (1,), "float32"),), (Node("b", "toy.own", ("a",)),), ("b",))
    call = Node("y", "call", ("x",), {"function": "f", "sizes": ShapeValue(())})
    nodes = (call, Node("z", "toy.second", ("y",)))
    program = Program((Input("x", (1,), "float32"),), nodes, ("z",), {"f": own})
    ended = conclude(
        ["a"], lambda t: RIGHT if "a" in t.without else WRONG, case=Case("toy", program)
    )
    assert ended.result.node is not None
    assert ended.result.node.node == "y"


def test_refusals_at_construction_name_no_pass() -> None:
    refused = Outcome(Verdict.OPAQUE_CRASH, "emit", "toy.op", "ValueError: 3")
    ended = conclude([], lambda trial: refused)
    assert (ended.result.culprit, ended.result.evidence) == ("emit", Evidence.EMIT)


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.ORACLE_SPLIT, Verdict.HARNESS_ERROR])
def test_a_passing_program_is_run_once(verdict: Verdict) -> None:
    ended = conclude(["a"], lambda trial: Outcome(verdict))
    assert (ended.result.verdict, ended.result.culprit) == (verdict, None)
    assert ended.result.why == DESCRIPTIONS[verdict]
    assert len(ended.trials) == 1
