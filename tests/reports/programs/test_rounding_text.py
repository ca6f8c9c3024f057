"""An error in units in the last place beside its bound."""

import pytest

from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.reports.programs.rounding_text import rounding_text
from tests.harness.outcomes.test_deviation import wrong

ULP = 2.0**-23
"""That of 1.0 in float32, and of each number up to 2."""


@pytest.mark.parametrize(
    ("error", "bound", "text"),
    [
        (21 * ULP, 8 * ULP, "off by 21 ulp (units in the last place of float32); rounding of"),
        (21 * ULP, 8 * ULP, "operations adds up to at most 8 ulp."),
        # From 100 on, the error is a whole number; the bound is always rounded up.
        (1234.9 * ULP, 100.1 * ULP, "off by 1,235 ulp"),
        (1234.9 * ULP, 100.1 * ULP, "at most 101 ulp"),
        (9 * ULP, 2.3412 * ULP, "at most 2.35 ulp"),
        (8.001 * ULP, 8 * ULP, "off by 8.001 ulp"),
        (8.001 * ULP, 8 * ULP, "at most 8 ulp."),
        (
            ULP,
            0.0,
            "off by 1 ulp (units in the last place of float32); rounding of these operations",
        ),
        (ULP, 0.0, "rounding of these operations adds nothing."),
    ],
)
def test_an_error_is_counted_in_units_in_the_last_place(
    error: float, bound: float, text: str
) -> None:
    assert text in rounding_text(wrong(1.0 + error, 1.0, bound))


def test_a_unit_is_that_of_the_output() -> None:
    assert "1,000 ulp (units in the last place of float64)" in rounding_text(
        wrong(1.0 + 1000 * 2.0**-52, 1.0, 0.0, "float64")
    )


@pytest.mark.parametrize(
    "outcome",
    [
        wrong(2.0, 1.0, ULP),
        wrong(None, 1.0, ULP),
        wrong(1e-9, 0.0, 1e-12),
        Outcome(Verdict.WRONG_VALUE, "compare"),
        Outcome(Verdict.OPAQUE_CRASH, "run"),
    ],
)
def test_nothing_is_said_of_rounding_where_none_is_in_question(outcome: Outcome) -> None:
    assert rounding_text(outcome) == ""
