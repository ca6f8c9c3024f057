"""Inputs with which a wrong value may be one that nobody calls rounding.

This is no step: a step goes down, and such inputs go up in the order of simplicity. They are of
magnitudes that people have: tenths, which no float holds, then numbers up to some tens and down to
some thousandths, and at last a few draws of ``moderate``.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from math import prod

from msgspec.structs import replace

from relaxcheck.generators.core.fills.kinds import Fill, Literal, Random
from relaxcheck.generators.core.program import Case, Input
from relaxcheck.generators.core.values import arrays
from relaxcheck.harness.programs.reduction.steps import candidate, remade
from relaxcheck.harness.programs.reduction.value_steps import WRITTEN_OUT

MOST_CANDIDATES = 16

MODERATE = "moderate"
"""The regime of what is drawn."""

_PLAIN = "normal"

_STARTS = (0.1, -0.1, -10, 10, -16, 16, 0.01, -0.01, 0.001, -0.001)
"""The first of the values written out, those of one candidate each."""

_DIGITS = 10
"""Values written out go on by tenths of the first: -10, -11, up to -19."""

_SEEDS = 4
_SEARCHED = 200
_EXTREMES = ((4.0, 32.0), (-32.0, -4.0))
"""Ranges of the furthest value of a draw: beyond 2, and not where exp overflows or is 0."""


def convincing(case: Case) -> Iterator[Case]:
    """``case`` with other floats as inputs, of ordinary magnitudes; ``MOST_CANDIDATES`` at most.

    Every dtype, shape and setting stays, and so do indices, constants and positive inputs.
    """
    yield from written_out(case)
    free = {tensor.name: tensor.fill for tensor in case.program.inputs if _is_free(tensor)}
    if free and not case.also:
        redrawn = partial(_with_fills, case, dict.fromkeys(free, Random()))
        # A case whose inputs are drawn stays on the axes of its family.
        drawn = all(isinstance(fill, Random) for fill in free.values())
        for moderate in (case,) if drawn else candidate(redrawn):
            for seed in _seeds(moderate):
                yield replace(moderate, regime=MODERATE, seed=seed)


def written_out(case: Case) -> Iterator[Case]:
    """Those of ``convincing`` whose inputs are written out; none where these are large."""
    free = [tensor for tensor in case.program.inputs if _is_free(tensor)]
    sizes = [_elements(tensor) for tensor in free]
    if free and not case.also and all(size is not None and size <= WRITTEN_OUT for size in sizes):
        for start in _STARTS:
            yield from candidate(partial(_written, case, start))


def _is_free(tensor: Input) -> bool:
    """True of an input of floats that may be any numbers."""
    plain = isinstance(tensor.fill, Random | Literal)
    return "float" in tensor.dtype and plain and not tensor.constant


def _elements(tensor: Input) -> int | None:
    """The number of elements of ``tensor``; None where a dimension is symbolic."""
    sizes = [dim for dim in tensor.shape if isinstance(dim, int)]
    return prod(sizes) if len(sizes) == len(tensor.shape) else None


def _written(case: Case, start: float) -> Case:
    """``case`` with values from ``start`` on written out, no two neighbours alike.

    Raises:
        ValueError: that is no case.
    """
    fills: dict[str, Fill] = {}
    number = 0
    for tensor in filter(_is_free, case.program.inputs):
        count = _elements(tensor) or 0
        places = [(number + at) % _DIGITS for at in range(count)]
        # To divide gives the decimal number that is nearest: 0.11, not 0.11000000000000001.
        inverse = round(1 / start) if abs(start) < 1 else 0
        values = [
            (_DIGITS + place) / (_DIGITS * inverse) if inverse else start + place * start / _DIGITS
            for place in places
        ]
        fills[tensor.name] = Literal(tuple(values))
        number += count
    return replace(_with_fills(case, fills), regime=_PLAIN)


def _with_fills(case: Case, fills: Mapping[str, Fill]) -> Case:
    inputs = [
        replace(tensor, fill=fills[tensor.name]) if tensor.name in fills else tensor
        for tensor in case.program.inputs
    ]
    return remade(case, inputs=inputs)


def _seeds(case: Case) -> list[int]:
    """Seeds whose draws of ``moderate`` have a large or low value that is not extreme, and more."""
    reaching: list[int] = []
    for least, most in _EXTREMES:
        for seed in range(_SEARCHED):
            if any(least <= value <= most for value in _furthest(case, seed)):
                reaching.append(seed)
                break
    return [*dict.fromkeys((*reaching, *range(_SEEDS)))]


def _furthest(case: Case, seed: int) -> list[float]:
    """The value furthest from 0 of each input of floats at the first binding."""
    made = arrays(replace(case, seed=seed), 0, MODERATE)
    floats = [
        made[tensor.name].astype("float64").ravel()
        for tensor in case.program.inputs
        if _is_free(tensor)
    ]
    return [float(each[abs(each).argmax()]) for each in floats if each.size]
