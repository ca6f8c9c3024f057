"""The error of a wrong value, as somebody sees it who does not know its bound.

A maintainer who reads "0.01655038 for 0.01655040" takes it for rounding, and closes the issue, even
where the error is a multiple of its bound. Nobody takes "0 for 4e-8" for rounding.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import ml_dtypes
import msgspec

from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

WORST = "worst"
"""The key, in the details of a wrong value, of the worst float: its ``Deviation`` as JSON."""

SLIGHT: Mapping[str, float] = {
    "float8_e5m2": 2.0**-1,
    "float8_e4m3fn": 2.0**-2,
    "float16": 2.0**-5,
    "bfloat16": 2.0**-4,
    "float32": 2.0**-12,
    "float64": 2.0**-32,
}
"""The relative errors below which somebody may call an error rounding, by dtype.

Half of the digits are right then. Of float64 it is less than half: what was computed in float32 has
a relative error of 2^-25 or so, which no rounding of float64 explains.
"""

SURE_RATIO = 4.0
"""The multiple of its bound from which on an error is surely none of rounding.

Below, a reader has to trust each factor of the bound; many would allow a factor of 2 themselves.
"""

FAR_MORE = 16.0
"""The factor by which a relative error is larger that convinces by far more."""

_ORDINARY = (2.0**-64, 2.0**64)
"""The magnitudes of results that people have: far from where any dtype ends but float16."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """The element of a float output that is furthest outside its bound.

    ``actual`` is None where it is NaN or infinite. ``expected`` and ``bound`` are finite; ``dtype``
    is that of the output.
    """

    actual: float | None
    expected: float
    bound: float
    dtype: str

    @property
    def error(self) -> float:
        """The absolute error."""
        return math.inf if self.actual is None else abs(self.actual - self.expected)

    @property
    def relative(self) -> float:
        """The error by the expected value, or by the bound where that is larger.

        Of a value that rounding may leave no digit of, the multiple of the bound says more.
        """
        size = max(abs(self.expected), self.bound)
        return self.error / size if size else math.inf

    @property
    def slight(self) -> bool:
        """True if somebody may call it rounding: by its size (``SLIGHT``), or by its bound."""
        near = self.relative < SLIGHT.get(self.dtype, 0.0)
        return near or self.error < SURE_RATIO * self.bound

    @property
    def ordinary(self) -> bool:
        """True if the expected value is of a magnitude that people have."""
        least, most = _ORDINARY
        return self.expected == 0 or least <= abs(self.expected) <= most

    @property
    def ulp(self) -> float:
        """The unit in the last place of the expected value, in the output's dtype."""
        known = ml_dtypes.finfo(self.dtype)
        exponent = math.frexp(max(abs(self.expected), float(known.smallest_normal)))[1] - 1
        return math.ldexp(1.0, exponent - int(known.nmant))


_BEYOND_DOUBT = 2.0**-4
"""The relative error beyond which a larger one convinces nobody else."""

Clarity = tuple[bool, bool, float]
"""Clarity of a failure: of ordinary magnitude, not slight, its relative error (``_BEYOND_DOUBT``
at most)."""


def deviation_of(outcome: Outcome) -> Deviation | None:
    """The deviation of the wrong value ``outcome``; None if it is none of floats, or not known."""
    worst = outcome.details.get(WORST)
    if outcome.verdict is not Verdict.WRONG_VALUE or worst is None:
        return None
    return msgspec.convert(worst, Deviation)


def is_slight(outcome: Outcome) -> bool:
    """True if ``outcome`` is a wrong value that somebody may call rounding."""
    deviation = deviation_of(outcome)
    return deviation is not None and deviation.slight


def clarity(outcome: Outcome) -> Clarity:
    """The clarity of the failure ``outcome``: the greater, the more readers it convinces."""
    deviation = deviation_of(outcome)
    if deviation is None:
        return True, True, _BEYOND_DOUBT
    relative = min(deviation.relative, _BEYOND_DOUBT)
    return deviation.ordinary, not deviation.slight, relative


def far_clearer(outcome: Outcome, other: Outcome) -> bool:
    """True if ``outcome`` convinces by far more than ``other``."""
    (*kind, size), (*other_kind, other_size) = clarity(outcome), clarity(other)
    return kind > other_kind or (kind == other_kind and size >= FAR_MORE * other_size)
