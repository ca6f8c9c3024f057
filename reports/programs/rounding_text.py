"""The error of a wrong value in units in the last place, beside what rounding may add up to."""

import math

from relaxcheck.harness.outcomes.deviation import deviation_of
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.reports.programs.python.source import rounded_up

_WHOLE, _MANY = 100, 10**6

_PLAINLY_WRONG = 2.0**-4
"""The relative error from which on no reader asks about rounding."""

_NEAR = 1.02
"""An error by its bound that three digits may hide."""


def rounding_text(outcome: Outcome) -> str:
    """The worst error and its bound in ulp, as a sentence; empty where it is plainly wrong.

    An ulp is that of the expected value in the output's dtype; 0 has none.
    """
    worst = deviation_of(outcome)
    if worst is None or worst.expected == 0 or not worst.relative < _PLAINLY_WRONG:
        return ""
    error, bound = worst.error / worst.ulp, worst.bound / worst.ulp
    off, most = _text(error), _text(bound, up=True)
    if error < _NEAR * bound:
        off, most = f"{error:.9g}", f"{bound:.9g}"
    rounding = f"adds up to at most {most} ulp" if bound else "adds nothing"
    return (
        f"The worst element is off by {off} ulp (units in the last place of {worst.dtype}); "
        f"rounding of these operations {rounding}."
    )


def _text(number: float, *, up: bool = False) -> str:
    """``number`` with three digits, or as a whole number from 100 to a million.

    ``up``: it is rounded up, so that it is at most so much.
    """
    if _WHOLE <= number < _MANY:
        return f"{math.ceil(number) if up else round(number):,}"
    return f"{rounded_up(number) if up else number:.3g}"
