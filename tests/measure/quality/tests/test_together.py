"""Outcomes of cases compiled together and alone are compared; differences are named."""

from typing import Any

import pytest

from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from tests.measure.quality import together
from tests.measure.quality.together import independent, markdown, missed

PASS = Outcome(Verdict.PASS, checks=(Check({}, "y", 0.5, ("pytorch",)),), oracles=("pytorch",))


@pytest.mark.parametrize(
    ("outcome", "other", "same"),
    [
        (
            PASS,
            Outcome(Verdict.PASS, checks=PASS.checks, oracles=("pytorch",), seconds={"tvm": 1}),
            True,
        ),
        (PASS, Outcome(Verdict.PASS, oracles=("pytorch",)), False),
        (PASS, Outcome(Verdict.PASS, checks=PASS.checks), False),
        (Outcome(Verdict.OPAQUE_CRASH, "codegen"), Outcome(Verdict.OPAQUE_CRASH, "link"), False),
        (
            Outcome(Verdict.OPAQUE_CRASH, message="a"),
            Outcome(Verdict.OPAQUE_CRASH, message="b"),
            False,
        ),
        (
            Outcome(Verdict.WRONG_VALUE, message="a"),
            Outcome(Verdict.WRONG_VALUE, message="b"),
            True,
        ),
        (Outcome(Verdict.WRONG_VALUE), PASS, False),
    ],
)
def test_outcomes_that_must_be_the_same(outcome: Outcome, other: Outcome, same: bool) -> None:
    assert (independent(outcome) == independent(other)) is same


@pytest.mark.tvm
def test_a_small_measurement_holds_what_the_page_shows() -> None:
    shown: list[float] = []
    figures = together.measure(0.003, 1, lambda step, share: shown.append(share))
    assert shown[-1] == 1
    assert figures["cases"] == 12
    assert sum(figures["verdicts"].values()) == 12
    assert figures["seconds"]["alone"] > 0
    assert missed(figures) == []
    assert "**0 of 12** cases" in markdown(figures)


def test_a_case_that_ends_otherwise_is_a_target_missed_and_shown() -> None:
    unlike = {
        "case": "c1",
        "family": "f",
        "together": "crash at link: a|b",
        "alone": "pass at None: ",
    }
    figures: dict[str, Any] = {
        **{"seed": 1, "cases": 9, "verdicts": {"pass": 9}, "unlike": [unlike]},
        **{"uncertain": [{**unlike, "case": "c2"}], "retried": 2, "seconds": {}},
    }
    assert missed(figures) == ["cases that end otherwise together: 1, not 0"]
    page = markdown(figures)
    assert "| `c1` | f | crash at link: a\\|b | pass at None:  | the same |" in page
    assert "| `c2` | f | crash at link: a\\|b | pass at None:  | otherwise |" in page
