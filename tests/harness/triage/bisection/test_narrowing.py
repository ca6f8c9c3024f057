"""The bindings that a pass goes wrong on: the search on known faults, and in real modules."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.bisection.narrowing import NARROWED, narrowed, worded
from relaxcheck.harness.triage.bisection.trace import Held, Step, Trace
from relaxcheck.harness.triage.bisection.trials import Traced, Trial

CASE = Case(
    "toy",
    Program((Input("x", (1,), "float32"),), (Node("y", "exp", ("x",)),), ("y",)),
)
WRONG, RIGHT = Outcome(Verdict.WRONG_VALUE, "compare"), Outcome(Verdict.PASS)
STEP = Step("FuseOps", "FuseOps", changed=True)


def concluded(
    bindings: Sequence[Held], culprits: Sequence[Held], step: Step = STEP, message: str = ""
) -> tuple[tuple[Held, ...], int]:
    """The result for a pass that goes wrong where it sees all ``culprits``; and the runs."""
    outcome = Outcome(Verdict.WRONG_VALUE, "compare", None, message)
    search = narrowed(CASE, outcome, step, ("Later",), lambda each: each.verdict.is_failure)
    runs = 0
    try:
        trial: Trial = next(search)
        while True:
            runs += 1
            assert (trial.within, trial.without) == (step.path, ("Later",))
            wrong = not {each.key for each in culprits} & set(trial.held)
            trace = Trace(bindings=tuple(bindings))
            trial = search.send(Traced(WRONG if wrong else RIGHT, trace))
    except StopIteration as end:
        return end.value, runs


def held(count: int, function: str = "main") -> list[Held]:
    return [Held(function, at, f"lv{at}", "exp") for at in range(count)]


@given(data=st.data())
def test_exactly_the_culprits_are_named_in_few_runs(data: st.DataObject) -> None:
    bindings = held(data.draw(st.integers(1, 12))) + held(data.draw(st.integers(0, 6)), "block")
    culprits = data.draw(st.lists(st.sampled_from(bindings), min_size=1, max_size=2, unique=True))
    found, runs = concluded(bindings, culprits)
    assert set(culprits) <= set(found)
    assert runs <= 31
    if runs < 30:
        assert set(found) == set(culprits)


def test_one_of_forty_takes_a_dozen_runs() -> None:
    bindings = held(40)
    found, runs = concluded(bindings, bindings[23:24])
    assert found == tuple(bindings[23:24])
    assert runs <= 14


def test_what_fails_without_any_binding_names_none() -> None:
    assert concluded(held(3), ()) == ((), 2)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Step("LegalizeOps", "LegalizeOps", changed=True), ""),
        (STEP, "FuseOps: changes its own result when it is applied again: differs"),
    ],
)
def test_nothing_is_tried_where_nothing_can_be_held_back(step: Step, message: str) -> None:
    assert concluded(held(3), held(1), step, message) == ((), 0)


def test_bindings_are_told_by_function() -> None:
    text = worded([*held(2), *held(1, "block")])
    assert text.startswith("it goes wrong on lv0 (exp), lv1 (exp) of main and lv0 (exp) of block:")


def test_passes_that_lower_all_calls_are_left_out() -> None:
    assert {"FuseOps", "FoldConstant", "StaticPlanBlockMemory"} <= NARROWED
    assert not {"LegalizeOps", "CallTIRRewrite", "VMShapeLower"} & NARROWED
