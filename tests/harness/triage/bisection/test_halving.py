"""Halving finds a change wherever it is, in few tries, whatever says nothing."""

from collections.abc import Sequence
from math import log2

from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.harness.triage.bisection.halving import Change, halving


def run(outcomes: Sequence[str | None]) -> tuple[Change | None, list[int]]:
    """The result of halving ``outcomes``, and the positions that it tried."""
    search = halving(len(outcomes))
    tried: list[int] = []
    try:
        at = next(search)
        while True:
            tried.append(at)
            at = search.send(outcomes[at])
    except StopIteration as end:
        return end.value, tried


@given(st.integers(1, 300), st.integers(1, 300))
def test_one_change_is_found_in_few_tries(good: int, bad: int) -> None:
    change, tried = run(["passes"] * good + ["wrong-value"] * bad)
    assert change == Change(good - 1, good)
    assert len(tried) == len(set(tried)) <= 3 + log2(good + bad)


@given(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=30))
def test_whatever_the_outcomes_are_the_change_is_between_two_that_differ(
    outcomes: list[str | None],
) -> None:
    change, tried = run(outcomes)
    assert len(tried) == len(set(tried))
    telling = [outcome for outcome in outcomes if outcome is not None]
    if len(telling) < 2 or telling[0] == telling[-1]:
        assert change is None
        return
    assert change is not None
    assert (outcomes[change.before], outcomes[change.after]) == (telling[0], telling[-1])
    assert change.skipped == tuple(range(change.before + 1, change.after))
    # What lies between was tried, and is like neither end.
    assert set(change.skipped) <= set(tried)
    assert not {outcomes[at] for at in change.skipped} & {telling[0], telling[-1]}


def test_of_a_single_build_or_none_nothing_is_known() -> None:
    assert run([]) == (None, [])
    assert run(["passes"]) == (None, [0])
    assert run([None, None, "passes"]) == (None, [0, 1, 2])
    assert run(["a", None, "a"]) == (None, [0, 2])
