"""The clearest of several failures, with nothing compiled."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from msgspec.structs import replace as changed
from numpy.typing import NDArray

from relaxcheck.generators.core.axes import Family, complete, point_of
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.appearance import NAN
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Reduced
from relaxcheck.harness.triage.reduction.conviction import as_clear, clearest, convinced
from relaxcheck.harness.triage.reduction.running import reduced
from relaxcheck.harness.triage.reduction.search import Hit
from relaxcheck.harness.triage.reduction.trying import Budget
from tests.harness.outcomes.test_deviation import wrong

Run = Callable[[NDArray[np.float64]], Outcome]

EXP = family("exp", tuple(PIPELINES))
CASE = Case("exp", Program((Input("x", (1,), "float32"),), (Node("y", "exp", ("x",)),), ("y",)))
PASS = Outcome(Verdict.PASS)
SLIGHT = wrong(0.0165503826, 0.016550403, 7.89e-09)
ROUGH = wrong(1.001, 1.0, 1e-7)
PLAIN = wrong(2.0, 1.0, 1e-7)
HUGE = wrong(None, 1e150, 1.0)
NOT_A_NUMBER = changed(HUGE, details={**HUGE.details, NAN: True})


def concluded(
    run: Run, outcome: Outcome, case: Case = CASE, *, by_look: bool = True
) -> tuple[Hit | None, int]:
    """The end of ``clearest``, and its trials, where ``run`` has the outcome for an input."""
    trials = clearest(case, outcome, by_look=by_look)
    count = 0
    try:
        tried = next(trials)
        while True:
            count += 1
            tried = trials.send(run(arrays(tried, 0)["x"].astype("float64")))
    except StopIteration as end:
        return end.value, count


def test_a_slight_error_gives_way_to_the_clearest_one() -> None:
    def run(x: NDArray[np.float64]) -> Outcome:
        return PLAIN if x[0] == -16 else ROUGH if x[0] < -2 else SLIGHT

    hit, count = concluded(run, SLIGHT)
    assert hit is not None
    assert hit.outcome is PLAIN
    assert arrays(hit.case, 0)["x"] == [-16]
    assert count <= 16


def test_of_equally_clear_ones_the_first_is_taken() -> None:
    hit, _ = concluded(lambda x: PLAIN, SLIGHT)
    assert hit is not None
    assert hit.number == 0


@pytest.mark.parametrize(
    "other",
    [
        PASS,
        SLIGHT,
        # Ten times larger, and slight all the same.
        wrong(0.016550199, 0.016550403, 7.89e-09),
        # Other failures.
        changed(PLAIN, details={**PLAIN.details, NAN: True}),
        Outcome(Verdict.OPAQUE_CRASH, "run", message="ValueError: x"),
    ],
)
def test_a_slight_error_stays_where_no_other_is_far_clearer(other: Outcome) -> None:
    hit, count = concluded(lambda x: other, SLIGHT)
    assert hit is None
    assert count > 0


def test_a_clear_failure_of_ordinary_inputs_is_left_alone() -> None:
    crash = Outcome(Verdict.OPAQUE_CRASH, "run", message="ValueError: x")
    assert concluded(lambda x: PLAIN, PLAIN) == (None, 0)
    assert concluded(lambda x: crash, crash, changed(CASE, regime="boundary")) == (None, 0)


def test_a_clear_failure_of_unusual_inputs_gets_the_first_usual_ones_that_are_as_clear() -> None:
    unusual = changed(CASE, regime="moderate")
    hit, count = concluded(lambda x: PLAIN if abs(x[0]) >= 10 else SLIGHT, PLAIN, unusual)
    assert hit is not None
    assert arrays(hit.case, 0)["x"] == [-10]
    assert count == 3
    assert concluded(lambda x: SLIGHT, PLAIN, unusual)[0] is None


def test_extreme_values_give_way_to_ordinary_ones_whatever_they_look_like() -> None:
    for outcome in (HUGE, NOT_A_NUMBER):
        hit, _ = concluded(lambda x: ROUGH, outcome, by_look=False)
        assert hit is not None
        assert hit.outcome is ROUGH
    assert concluded(lambda x: ROUGH, NOT_A_NUMBER)[0] is None
    # Values that are NaN are no slight error that is far clearer.
    ordinary = changed(PLAIN, details={**PLAIN.details, NAN: True})
    assert concluded(lambda x: ordinary, SLIGHT, by_look=False)[0] is None


def test_reduction_goes_on_with_failures_that_are_about_as_clear() -> None:
    keeps = as_clear(lambda case, outcome: outcome.verdict is Verdict.WRONG_VALUE, ROUGH)
    assert keeps(CASE, PLAIN)
    assert keeps(CASE, ROUGH)
    assert not keeps(CASE, SLIGHT)
    assert not keeps(CASE, HUGE)
    assert not keeps(CASE, PASS)


def finished(member: Family, before: Reduced, ends: Callable[[AnyCase], Outcome]) -> Reduced:
    trials = convinced(member, before)
    try:
        tried = next(trials)
        while True:
            tried = trials.send(ends(tried))
    except StopIteration as end:
        result: Reduced = end.value
        return result


def test_a_finding_that_blames_nothing_gets_a_clearer_case_on_its_axes() -> None:
    drawn = EXP.build(complete(EXP.axes, {}), 1)
    better = finished(EXP, Reduced(drawn, SLIGHT, {}), lambda case: PLAIN)
    assert (better.outcome, better.blame) == (PLAIN, {})
    assert point_of(EXP, better.case)["regime"] == "moderate"
    for before in (Reduced(drawn, SLIGHT, {"dtype": "float16"}), Reduced(drawn, ROUGH, {})):
        assert finished(EXP, before, lambda case: PLAIN) is before


def test_inputs_that_fail_at_the_default_of_a_setting_are_to_blame_alone() -> None:
    member = family("softplus", tuple(PIPELINES))
    before = Reduced(member.build(complete(member.axes, {"beta": "2"}), 1), SLIGHT, {"beta": "2"})

    def at_default(case: AnyCase) -> Outcome:
        return PLAIN if point_of(member, case)["beta"] is None else PASS

    after = finished(member, before, at_default)
    assert (after.outcome, after.blame) == (PLAIN, {})
    assert point_of(member, after.case)["beta"] is None
    assert finished(member, before, lambda case: PASS) is before


def test_a_regime_stays_to_blame_for_other_inputs_of_it() -> None:
    drawn = EXP.build(complete(EXP.axes, {"regime": "moderate"}), 1)
    after = finished(EXP, Reduced(drawn, SLIGHT, {"regime": "moderate"}), lambda case: PLAIN)
    assert (after.outcome, after.blame) == (PLAIN, {"regime": "moderate"})


class Exponential:
    """As workers: low inputs make a slight error at first, then a large one."""

    width = 1

    def __init__(self) -> None:
        self.asked: list[Case] = []

    def submit(self, case: Case) -> None:
        self.asked.append(case)

    def ended(self) -> Iterator[tuple[Case, Outcome]]:
        while self.asked:
            case = self.asked.pop(0)
            yield case, self.again(case)

    def again(self, case: Case) -> Outcome:
        made = arrays(case, 0)
        if "x" not in made:
            return PASS
        lowest = float(made["x"].astype("float64").min(initial=0))
        return (
            PLAIN if lowest <= -16 else ROUGH if lowest <= -10 else SLIGHT if lowest < 0 else PASS
        )


def test_a_reduction_ends_at_the_smallest_case_that_convinces() -> None:
    program = Program((Input("x", (2, 3), "float32"),), (Node("y", "exp", ("x",)),), ("y",))
    case = Case("toy", program, seed=7)
    trier = Exponential()
    start = trier.again(case)
    assert start is SLIGHT
    ended = reduced(case, start, trier, (), Budget(1000, 600, lambda: False))  # type: ignore[arg-type]
    assert ended.reduction.outcome is PLAIN
    assert isinstance(ended.reduction.case, Case)
    (tensor,) = ended.reduction.case.program.inputs
    assert (tensor.shape, tensor.fill) == ((1, 1), Literal((-16.0,)))
    assert ended.reduction.minimal
    assert ended.stable


def test_an_exhausted_budget_leaves_a_slight_error() -> None:
    trier = Exponential()
    ended = reduced(CASE, SLIGHT, trier, (), Budget(1, 600, lambda: False))  # type: ignore[arg-type]
    assert ended.why == "1 tries are used up"
    assert ended.reduction.outcome is SLIGHT
