"""Expected and actual elements side by side, and how far each is off, as tables of cells."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from relaxcheck.harness.outcomes.output import Output

MOST_PLANES = 6
MOST_SIDE = 24
"""Planes that are shown, and rows or columns of one: of larger outputs, those around the worst."""

_STEPS = 6
"""Steps of the heat: one for each power of ten past the bound, and one for infinitely far."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One element as text; ``error`` is |actual - expected|, ``ratio`` that by its bound.

    ``heat`` is 0 within the bound and up to 6 far outside of it, -1 where nothing is expected.
    """

    expected: str
    actual: str
    error: str
    ratio: str
    heat: int
    worst: bool


@dataclass(frozen=True, slots=True)
class Plane:
    """The elements at one index of all but the last two dimensions.

    ``title`` is that index as Python writes it. ``first_row`` and ``first_column`` are the indices
    of the first ones shown.
    """

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    first_row: int
    first_column: int


@dataclass(frozen=True, slots=True)
class Heat:
    """An output: the worst planes, in order; ``hidden`` more are not shown, ``cut`` not whole.

    ``outside`` of ``size`` elements lie outside their bound.
    """

    output: str
    where: str
    shape: tuple[int, ...]
    dtype: str
    size: int
    outside: int
    planes: tuple[Plane, ...]
    hidden: int
    cut: bool


def heat(output: Output) -> Heat:
    """The heat map of ``output``, which has at least one element.

    Raises:
        ValueError: it has none.
    """
    if not output.actual:
        raise ValueError(f"output {output.name} has no elements")
    ratios = [
        ratio(*map(value_of, row))
        for row in zip(output.actual, output.expected, output.bound, strict=True)
    ]
    lead, rows, columns = _split(output.shape)
    worst = max(range(len(ratios)), key=lambda at: (ratios[at] > 1, ratios[at]))
    area = rows * columns
    planes = sorted(
        range(math.prod(lead)),
        key=lambda number: -max(ratios[number * area : (number + 1) * area]),
    )[:MOST_PLANES]
    names = list(itertools.product(*map(range, lead)))
    # All planes are cut alike, so that the worst element is seen in its own.
    down = _window(rows, worst % area // columns)
    across = _window(columns, worst % columns)
    shown = []
    for number in sorted(planes):
        table = tuple(
            tuple(
                _cell(output, at, ratios[at], worst=at == worst)
                for at in (number * area + row * columns + column for column in across)
            )
            for row in down
        )
        title = ", ".join([*map(str, names[number]), *[":"] * min(2, len(output.shape))])
        shown.append(Plane(f"[{title}]", table, down.start, across.start))
    binding = ", ".join(f"{name} = {value}" for name, value in output.binding.items())
    where = f"inputs {output.regime}" + (f", {binding}" if binding else "")
    return Heat(
        output.name,
        where,
        output.shape,
        output.dtype,
        len(ratios),
        sum(ratio > 1 for ratio in ratios),
        tuple(shown),
        math.prod(lead) - len(shown),
        len(down) < rows or len(across) < columns,
    )


def ratio(actual: float, expected: float, bound: float) -> float:
    """|actual - expected| / bound as ``oracles.compare`` has it; -1 where the bound is infinite."""
    if math.isinf(bound):
        return -1.0
    if actual == expected or (math.isnan(actual) and math.isnan(expected)):
        return 0.0
    error = abs(actual - expected)
    if math.isnan(error) or bound == 0:
        return math.inf
    return error / bound


def value_of(text: str) -> int | float:
    """The number that ``text`` writes; an integer exactly."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def step(value: float) -> int:
    """The heat of an element whose error by its bound is ``value``."""
    if value < 0:
        return -1
    if value <= 1:
        return 0
    if math.isinf(value):
        return _STEPS
    return min(1 + int(math.log10(value)), _STEPS - 1)


def short(text: str) -> str:
    """A number in as few letters as tell it, up to six digits."""
    value = float(text)
    if not math.isfinite(value):
        return text.replace("inf", "∞")
    return f"{value:.6g}"


def _split(shape: Sequence[int]) -> tuple[tuple[int, ...], int, int]:
    """All dimensions but the last two, and those two."""
    whole = (1, 1, *shape)
    return whole[2:-2] if len(shape) > 2 else (), whole[-2], whole[-1]


def _window(size: int, around: int) -> range:
    start = max(0, min(around - MOST_SIDE // 2, size - MOST_SIDE))
    return range(start, min(size, start + MOST_SIDE))


def _cell(output: Output, at: int, number: float, *, worst: bool) -> Cell:
    actual, expected = output.actual[at], output.expected[at]
    error = abs(value_of(actual) - value_of(expected))
    return Cell(
        short(expected),
        short(actual),
        f"{error:.3g}".replace("inf", "∞"),
        "any" if number < 0 else f"{number:.3g}".replace("inf", "∞"),
        step(number),
        worst,
    )
