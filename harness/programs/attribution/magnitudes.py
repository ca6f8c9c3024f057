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

from relaxcheck.generators.core.fills.kinds import Literal, Random
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.outcomes.attribution import Aspect, Condition, Difference
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reduction.steps import candidate, remade
from relaxcheck.harness.triage.fingerprint import looks_alike, same_signature, signature_of

ORDINARY = "ordinary"
"""The regime, for a reader, of magnitudes up to 2 with the digits of the case's own inputs."""

_MOST_ELEMENTS = 64

_EXACT = 2.0**53
"""From here on float64 does not hold every integer."""

_DRAWS = 8
"""The digits that each magnitude is tried with: some come out right by coincidence."""

_KINDS: Mapping[str, Callable[[NDArray[Any]], NDArray[np.bool_]]] = {
    "large": lambda values: values > 2,
    "low": lambda values: values < -2,
    "small": lambda values: (values != 0) & (np.abs(values) < 2.0**-11),
}
"""Values that ordinary inputs do not have, by kind."""

EXTREMES: Mapping[str, Callable[[NDArray[np.float64]], float]] = {
    "large": lambda values: float(values.max()),
    "low": lambda values: float(values.min()),
    "small": lambda values: float(np.abs(values[values != 0]).min()),
}
"""The value that is furthest out, by kind."""

Values = Mapping[str, NDArray[np.float64]]


def milder(case: Case, outcome: Outcome) -> Trials[tuple[Condition, ...] | None]:
    """The magnitudes that ``case`` fails with, each with milder ones that it passes with.

    If it fails with ordinary magnitudes, a condition says that. None if nothing is known: it is no
    wrong value, a shape is symbolic, or it takes NaN or infinities, which no case can write out. It
    takes infinities, too, where of all numbers only the largest one is like them.
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
    at_limit = yield from of_limits(case, outcome)
    if at_limit is not None:
        return (at_limit,)
    below = {name: _below_limit(each, _dtype(case, name)) for name, each in finite.items()}
    if any((below[name] != finite[name]).any() for name in finite):
        infinite = any(np.isinf(each).any() for each in values.values())
        if not (yield from fails(below)):
            largest = yield from _of_largest(case, values, below)
            if largest is not None or infinite:
                return largest
    whole = frozenset(name for name in values if "float" not in _dtype(case, name))
    for kind, unusual in _KINDS.items():
        ladder = _ladder(mildest, whole, unusual)
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
    ordinary = all(np.array_equal(mildest[name], values[name]) for name in values)
    if needed or ordinary:
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


def of_limits(case: Case, outcome: Outcome) -> Trials[Condition | None]:
    """The condition that every element is the lowest, or the highest, integer of its dtype.

    A maximum of nothing but the lowest integer is unlike one that has any other beside it. None
    where the elements differ, or it fails with the next integer as well.
    """
    values = _values(case) if outcome.verdict is Verdict.WRONG_VALUE else None
    (dtype, *others) = {_dtype(case, name) for name in values or ()} or {""}
    if values is None or others or not dtype.startswith(("int", "uint")):
        return None
    # As they are: near the limits of 64 bits, several integers are one number of float64's.
    made = arrays(case, 0)
    every = {int(value) for name in values for value in made[name].ravel()}
    limits = np.iinfo(dtype)
    if len(every) != 1 or not every <= {limits.min, limits.max}:
        return None
    was, lowest = float(*every), float(limits.min)
    # Near the limits of 64 bits the next number is none of float64's.
    step = float(np.spacing(was)) if abs(was) >= _EXACT else 1.0
    kind, to = ("lowest", was + abs(step)) if was == lowest else ("highest", was - abs(step))
    changed = _written(case, {name: np.full_like(each, to) for name, each in values.items()})
    if changed is None:
        return None
    result = yield changed
    if result.verdict is not Verdict.PASS:
        return None
    return Condition((Difference(Aspect.VALUES, kind, was, to),), (result.verdict,), 0)


def _of_largest(case: Case, values: Values, below: Values) -> Trials[tuple[Condition, ...] | None]:
    """The condition that every element is infinite or the largest number, as in ``values``.

    In ``below`` each of them is the number before, with which ``case`` does not fail alike. None
    where other elements are beside them, or that does not pass either.
    """
    every = {float(value) for each in below.values() for value in each.ravel()}
    changed = _written(case, below)
    if changed is None or len(every) != 1 or len({_dtype(case, name) for name in values}) != 1:
        return None
    (to,) = every
    was = {float(value) for each in values.values() for value in each.ravel()}
    result = yield changed
    if result.verdict is not Verdict.PASS or any(abs(value) <= abs(to) for value in was):
        return None
    infinite = next((str(value) for value in was if np.isinf(value)), None)
    kind = "largest" if to > 0 else "least"
    difference = Difference(Aspect.VALUES, kind, infinite or next(iter(was)), to)
    return (Condition((difference,), (result.verdict,), 0),)


def _below_limit(values: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """``values`` with the number before it for the largest of ``dtype``, of either sign."""
    if "float" not in dtype:
        return values
    most = float(ml_dtypes.finfo(dtype).max)
    below = before_largest(dtype)
    return np.where(np.abs(values) == most, np.sign(values) * below, values)


def before_largest(dtype: str) -> float:
    """The number before the largest one of the floating ``dtype``."""
    most = ml_dtypes.finfo(dtype).max
    return float(np.nextafter(most, np.zeros_like(most)))


def _values(case: Case) -> Values | None:
    """The numbers among the drawn inputs of ``case``, by name; None if none can be written.

    Of integers of 64 bits the last digits are lost, but not those of their limits.
    """
    drawn = [
        tensor
        for tensor in case.program.inputs
        if tensor.dtype != "bool" and isinstance(tensor.fill, Random | Literal)
    ]
    if not drawn:
        return None
    shapes = [tensor.shape for tensor in drawn]
    static = all(isinstance(dim, int) for shape in shapes for dim in shape)
    if not static or len(case.bindings) > 1 or case.also:
        return None
    if sum(prod(dim for dim in shape if isinstance(dim, int)) for shape in shapes) > _MOST_ELEMENTS:
        return None
    made = arrays(case, 0)
    return {tensor.name: made[tensor.name].astype("float64") for tensor in drawn}


def _written(case: Case, values: Values) -> Case | None:
    """``case`` with these values written out; None if that is no case."""
    inputs = [
        replace(tensor, fill=Literal(_literal(values[tensor.name], tensor.dtype)))
        if tensor.name in values
        else tensor
        for tensor in case.program.inputs
    ]
    return next(candidate(partial(remade, case, inputs=inputs)), None)


def _literal(values: NDArray[np.float64], dtype: str) -> tuple[int | float, ...]:
    """``values`` as elements of ``dtype``: integers within its range."""
    if "float" in dtype:
        return tuple(values.ravel().tolist())
    limits = np.iinfo(dtype)
    return tuple(min(max(int(value), limits.min), limits.max) for value in values.ravel())


def _dtype(case: Case, name: str) -> str:
    return next(tensor.dtype for tensor in case.program.inputs if tensor.name == name)


def _finite(values: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """``values`` with 1 for NaN, and the largest values of ``dtype`` for infinities."""
    if "float" not in dtype:
        return values
    most = float(ml_dtypes.finfo(dtype).max)
    return np.nan_to_num(values, nan=1.0, posinf=most, neginf=-most)


@dataclass(frozen=True, slots=True)
class _Ladder:
    """Milder versions of ``values``: those ``chosen`` at most (or least) 10 to each of ``rungs``.

    The mildest rung is the first; at the last, None, nothing is changed. ``whole`` names the inputs
    of integers, which have no digits behind the point.
    """

    values: Values
    whole: frozenset[str]
    chosen: Mapping[str, NDArray[np.bool_]]
    rungs: tuple[int | None, ...]

    def at(self, rung: int, draw: int = 0) -> Values:
        """The values at the rung of that number; other digits for each ``draw`` but 0."""
        power = self.rungs[rung]
        if power is None:
            return self.values
        source = np.random.default_rng(draw)
        result = {}
        for name, each in self.values.items():
            scaled = _to_power(each, power, source.uniform(1, 10, each.shape) if draw else 1.0)
            scaled = np.trunc(scaled) if name in self.whole else scaled
            result[name] = np.where(self.chosen[name], scaled, each)
        return result


def _ladder(
    values: Values, whole: frozenset[str], unusual: Callable[[NDArray[Any]], NDArray[np.bool_]]
) -> _Ladder:
    """The ladder for the ``unusual`` ones of ``values``, from ordinary ones to them."""
    chosen = {name: unusual(each) for name, each in values.items()}
    picked = [float(value) for name, each in values.items() for value in each[chosen[name]]]
    powers = [floor(log10(abs(value))) for value in picked]
    furthest = max(powers, key=abs, default=-1)
    step = 1 if furthest > -1 else -1
    rungs = (*range(-1, furthest, step), None) if powers else (None,)
    return _Ladder(values, whole, chosen, rungs)


def _to_power(
    values: NDArray[np.float64], power: int, factors: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """``values`` with all exponents ``power``, and their own digits times ``factors``; zeros stay.

    The ``factors`` are from 1 to 10.
    """
    with np.errstate(all="ignore"):
        own = np.floor(np.log10(np.abs(values)))
        digits = values / 10.0**own
        # Subnormal numbers divide by 0.
        digits = np.where(np.isfinite(digits), digits, np.sign(values))
    # Not before: the largest numbers have no multiples.
    digits = digits * factors
    digits = np.where(np.abs(digits) < 10, digits, digits / 10)
    return np.where(values == 0, values, digits * 10.0**power)


def _extreme(kind: str, values: Values) -> float:
    """The value of ``values`` that is furthest out in the way of ``kind``."""
    return EXTREMES[kind](np.concatenate([each.ravel() for each in values.values()]))
