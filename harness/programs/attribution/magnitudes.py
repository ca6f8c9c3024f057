"""Magnitudes that a wrong value takes: the inputs of a failing case, made milder step by step.

That a case passes with ordinary inputs does not show which of its large, low or small values it
fails with, nor from where on. So each kind is scaled by powers of ten towards ordinary values, and
keeps its digits: rounded to fewer, it could be right by coincidence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import floor, log10, prod
from typing import Any

import ml_dtypes
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from relaxcheck.generators.core.program import Case, Literal, Random
from relaxcheck.generators.core.values import arrays
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.outcomes.attribution import Aspect, Condition, Difference
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reduction.steps import candidate, remade
from relaxcheck.harness.triage.fingerprint import looks_alike, same_signature, signature_of

ORDINARY = "ordinary"
"""The regime, for a reader, of magnitudes up to 2 with the digits of the case's own inputs."""

_MOST_ELEMENTS = 64

_DRAWS = 8
"""The digits that each magnitude is tried with: some come out right by coincidence."""

_KINDS: Mapping[str, Callable[[NDArray[Any]], NDArray[np.bool_]]] = {
    "large": lambda values: values > 2,
    "low": lambda values: values < -2,
    "small": lambda values: (values != 0) & (np.abs(values) < 2.0**-11),
}
"""Values that ordinary inputs do not have, by kind."""

Values = Mapping[str, NDArray[np.float64]]


def milder(case: Case, outcome: Outcome) -> Trials[tuple[Condition, ...] | None]:
    """The magnitudes that ``case`` fails with, each with milder ones that it passes with.

    If it fails with ordinary magnitudes, a condition says that. None if nothing is known: it is no
    wrong value, a shape is symbolic, or it takes NaN or infinities, which no case can write out.
    """
    values = _values(case) if outcome.verdict is Verdict.WRONG_VALUE else None
    if values is None:
        return None
    signature = signature_of(case, outcome)

    def fails(tried: Values) -> Trials[Outcome | None]:
        """The outcome with these values, where it is the failure."""
        changed = _written(case, tried)
        if changed is None:
            return None
        result = yield changed
        alike = same_signature(changed, result, signature)
        return result if alike and looks_alike(changed, result, signature) else None

    def failing_at(ladder: _Ladder, rung: int) -> Trials[Values | None]:
        """Values at ``rung`` with which it fails, of a few with other digits; None if none does."""
        for draw in range(_DRAWS if ladder.rungs[rung] is not None else 1):
            tried = ladder.at(rung, draw)
            if (yield from fails(tried)):
                return tried
        return None

    finite = {name: _finite(each, _dtype(case, name)) for name, each in values.items()}
    if not (yield from fails(finite)):
        return None
    mildest: Values = finite
    needed: list[Condition] = []
    for kind, unusual in _KINDS.items():
        ladder = _ladder(mildest, unusual)
        # The rungs below ``failing`` are milder; that at ``passing`` passes.
        passing, failing, mildest = -1, len(ladder.rungs) - 1, ladder.at(-1)
        while failing - passing > 1 or (passing == -1 and failing > 0):
            rung = 0 if passing == -1 else (passing + failing) // 2
            found = yield from failing_at(ladder, rung)
            if found is None:
                passing = rung
            else:
                failing, mildest = rung, found
        if passing >= 0:
            was, to = _extreme(kind, mildest), _extreme(kind, ladder.at(passing))
            needed.append(
                Condition((Difference(Aspect.VALUES, kind, was, to),), (Verdict.PASS,), 0)
            )
    if needed:
        return tuple(needed)
    regime = Difference(Aspect.SETTING, "regime", case.regime, ORDINARY)
    return (Condition((regime,), (outcome.verdict,), 1),)


def written_out(case: Case) -> bool:
    """True if values are written out in ``case`` that ordinary inputs do not have."""
    return any(
        "float" in tensor.dtype
        and isinstance(tensor.fill, Literal)
        and any(unusual(np.array(tensor.fill.values)).any() for unusual in _KINDS.values())
        for tensor in case.program.inputs
    )


def _values(case: Case) -> Values | None:
    """The drawn inputs of ``case``, by name; None if they cannot be written, or are not all floats.

    Scaled integers are others: with all of them kept, nothing would be milder.
    """
    floats = [tensor for tensor in case.program.inputs if isinstance(tensor.fill, Random | Literal)]
    if not floats or not all("float" in tensor.dtype for tensor in floats):
        return None
    shapes = [tensor.shape for tensor in floats]
    static = all(isinstance(dim, int) for shape in shapes for dim in shape)
    if not static or len(case.bindings) > 1 or case.also:
        return None
    if sum(prod(dim for dim in shape if isinstance(dim, int)) for shape in shapes) > _MOST_ELEMENTS:
        return None
    made = arrays(case, 0)
    return {tensor.name: made[tensor.name].astype("float64") for tensor in floats}


def _written(case: Case, values: Values) -> Case | None:
    """``case`` with these values written out; None if that is no case."""
    inputs = [
        replace(tensor, fill=Literal(tuple(values[tensor.name].ravel().tolist())))
        if tensor.name in values
        else tensor
        for tensor in case.program.inputs
    ]
    return next(candidate(partial(remade, case, inputs=inputs)), None)


def _dtype(case: Case, name: str) -> str:
    return next(tensor.dtype for tensor in case.program.inputs if tensor.name == name)


def _finite(values: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """``values`` with 1 for NaN, and the largest values of ``dtype`` for infinities."""
    most = float(ml_dtypes.finfo(dtype).max)
    return np.nan_to_num(values, nan=1.0, posinf=most, neginf=-most)


@dataclass(frozen=True, slots=True)
class _Ladder:
    """Milder versions of ``values``: those ``chosen`` at most (or least) 10 to each of ``rungs``.

    The mildest rung is the first; at the last, None, nothing is changed.
    """

    values: Values
    chosen: Mapping[str, NDArray[np.bool_]]
    rungs: tuple[int | None, ...]

    def at(self, rung: int, draw: int = 0) -> Values:
        """The values at the rung of that number; other digits for each ``draw`` but 0."""
        power = self.rungs[rung]
        if power is None:
            return self.values
        source = np.random.default_rng(draw)
        return {
            name: np.where(
                self.chosen[name],
                _to_power(each * source.uniform(1, 10, each.shape) if draw else each, power),
                each,
            )
            for name, each in self.values.items()
        }


def _ladder(values: Values, unusual: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> _Ladder:
    """The ladder for the ``unusual`` ones of ``values``, from ordinary ones to them."""
    chosen = {name: unusual(each) for name, each in values.items()}
    picked = [float(value) for name, each in values.items() for value in each[chosen[name]]]
    powers = [floor(log10(abs(value))) for value in picked]
    furthest = max(powers, key=abs, default=-1)
    step = 1 if furthest > -1 else -1
    return _Ladder(values, chosen, (*range(-1, furthest, step), None) if powers else (None,))


def _to_power(values: NDArray[np.float64], power: int) -> NDArray[np.float64]:
    """``values`` with all exponents ``power``, and their own digits; zeros stay."""
    with np.errstate(all="ignore"):
        own = np.floor(np.log10(np.abs(values)))
        digits = values / 10.0**own
        # Subnormal numbers divide by 0.
        digits = np.where(np.isfinite(digits), digits, np.sign(values))
    return np.where(values == 0, values, digits * 10.0**power)


def _extreme(kind: str, values: Values) -> float:
    """The value of ``values`` that is furthest out in the way of ``kind``."""
    every = np.concatenate([each.ravel() for each in values.values()])
    if kind == "large":
        return float(every.max())
    return float(every.min() if kind == "low" else np.abs(every[every != 0]).min())
