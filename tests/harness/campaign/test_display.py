"""The display of a campaign while it runs."""

import io

import numpy as np
import pytest
from rich.console import Console

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.coverage.steering import possible
from relaxcheck.generators.families import family
from relaxcheck.harness.campaign.campaign import Plan
from relaxcheck.harness.campaign.display import Display, Rate
from relaxcheck.harness.campaign.state import State, tally
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict

MEMBER = family("conv1d_transpose", tuple(PIPELINES))


class Clocked(State):
    """A state whose time is what it is set to."""

    now = 0.0

    @property
    def elapsed(self) -> float:
        return self.now


def test_a_rate_tells_of_late_and_of_all() -> None:
    rate, state = Rate(), Clocked()
    for second in range(101):
        state.now = float(second)
        # One case a second with two checks; three in each of the last thirty seconds.
        state.cases += 3 if second > 70 else second > 0
        state.checks = 2 * state.cases
        answer = rate(state)
    assert answer == "3.0 cases/s, 6 checks/s (in all 1.6 and 3)"


def test_a_rate_does_not_count_what_ran_before_the_campaign_went_on() -> None:
    rate, state = Rate(), Clocked(taken_up=1000, cases=1000, checks=5000)
    rate(state)
    state.now, state.cases, state.checks = 10.0, 1020, 5060
    assert rate(state) == "2.0 cases/s, 6 checks/s (in all 2.0 and 6)"


def test_pairs_are_covered_by_drawn_cases() -> None:
    pairs, _ = possible(MEMBER.axes)
    state = State(pairs={MEMBER.name: pairs}, all_pairs=pairs.count)
    assert state.pair_coverage == 0
    point = complete(MEMBER.axes, {})
    check = Check({}, "y", 0.5, ("pytorch",))
    passed = Outcome(Verdict.PASS, checks=(check,), oracles=("pytorch",))
    for _ in range(2):
        tally(state, {MEMBER.name: MEMBER}, (), {}, MEMBER.build(point, 1), passed)
    count = len(MEMBER.axes)
    assert state.pair_coverage == pytest.approx(count * (count - 1) / 2 / state.all_pairs)


def test_a_pair_that_no_valid_point_has_counts_once_among_those_that_do_not_count() -> None:
    pairs, _ = possible(MEMBER.axes)
    state = State(pairs={MEMBER.name: pairs}, all_pairs=pairs.count)
    first, other = (int(number) for number in np.argwhere(pairs.missing)[0])
    before = state.all_pairs
    for _ in range(2):
        state.rule_out(MEMBER.name, first, other)
    assert state.all_pairs == pairs.count == before - 1
    assert state.pair_coverage == 0


def test_progress_is_a_line_however_narrow_the_log() -> None:
    state = Clocked(phase="finishing", cases=1_000_000, checks=10_000_000, all_pairs=1)
    log, plan = io.StringIO(), Plan((MEMBER,), seed=0, seconds=60, fixes=(False,))
    with Display(Console(file=log, width=40), plan) as display:
        display(state)
    (line,) = log.getvalue().splitlines()
    assert line.endswith("of pairs  finishing")
