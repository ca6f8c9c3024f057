"""Cases of a campaign: an endless stream that is a function of a seed."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count as numbers
from itertools import cycle
from math import gcd, prod
from pathlib import Path
from statistics import median_low
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from relaxcheck.generators.core.axes import Family, Structured, cases
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.coverage.steering import Steering
from relaxcheck.generators.core.sampling import draw
from relaxcheck.harness.kinds import as_drawn

_VALID = 7
"""Valid cases of a family for each invalid one."""

_LOT = 24
"""Examples that Hypothesis draws at a time."""

_FEW = 4
"""Examples of one fault, or the first ones of a family; few campaigns use more."""

T = TypeVar("T")


def keep_hypothesis_in(directory: Path) -> None:
    """Have Hypothesis keep its own files in ``directory``, not in the user's folder."""
    set_hypothesis_home_dir(directory)


@dataclass(frozen=True, slots=True)
class Shard:
    """Stream ``number`` (from 1) of ``of``: a part of a campaign, independent of the others.

    A number draws the same cases whatever ``of`` is. ``1/1`` draws other cases: it is the campaign
    that is not split.
    """

    number: int = 1
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"shard {self} is none: from 1/{self.of} to {self.of}/{self.of}")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def key(self, seed: int) -> str:
        """The text that all random choices of this stream are derived from."""
        return str(seed) if self.of == 1 else f"{seed}/stream {self.number}"


WHOLE = Shard()
"""The one shard of a campaign that is not split."""


RuledOut = Callable[[str, int, int], None]
"""Hears of a pair of cells (by number) of a family, by its name, that no valid point has."""


def stream(
    families: Sequence[Family],
    seed: int,
    *,
    uniform: bool = False,
    shard: Shard = WHOLE,
    ruled_out: RuledOut = lambda family, cell, other: None,
) -> Iterator[AnyCase]:
    """Cases of each of ``families`` in rounds (``turns_of``), in ``order_of`` them, without end.

    One in eight is an invalid program, in families that have such.

    Valid cases are as their kind wants them drawn (``harness.kind.Kind.as_drawn``), and steered
    towards pairs of cells not drawn yet (``generators.core.coverage.steering``). If ``uniform``,
    Hypothesis draws every axis by its weights alone. ``ruled_out`` gets each pair that steering
    proves impossible: three axes or more exclude it.
    """
    valid = _uniform if uniform else partial(_steered, ruled_out=ruled_out)
    key = shard.key(seed)
    drawn = [
        (valid(family, key), invalid_calls(family, key) if family.invalid else None, numbers(1))
        for family in families
    ]
    for at in cycle(order_of(families, key)):
        own_valid, own_invalid, own_numbers = drawn[at]
        if own_invalid is None or next(own_numbers) % (_VALID + 1):
            yield as_drawn(next(own_valid))
        else:
            yield next(own_invalid)


_SHARE = 8
"""Families of random programs get one case of so many."""


_TURNS = 4
"""Turns of the median family in a round: shares are proportional to so much of it."""

_LEAST = 2
"""Turns that every family has: faults hide in those of few cells, too."""


def turns_of(families: Sequence[Family]) -> tuple[int, ...]:
    """Cases of each family in a round, in quarters of the median family's.

    A family has as many as it takes to draw all pairs of its cells, so that a campaign covers all
    families' pairs at about the same time; one of many axes, whose pairs come many in a case but
    where most combinations lie and faults hide longest, has three quarters of its share of all
    pairs at least. Every operator is drawn in every round. Families of random programs
    (``Structured``) share one case in eight among others, evenly. A family alone has one turn.
    """
    cells = [sorted(_cells(family), reverse=True) for family in families]
    # Two axes need a case for each pair of their cells.
    needed = _multiples([prod(counts[:2]) for counts in cells])
    pairs = _multiples(
        [(sum(counts) ** 2 - sum(count**2 for count in counts)) // 2 for counts in cells]
    )
    turns = [max(most, round(0.75 * many)) for most, many in zip(needed, pairs, strict=True)]
    structured = [isinstance(family, Structured) for family in families]
    others = sum(count for count, own in zip(turns, structured, strict=True) if not own)
    share = max(1, round(others / (_SHARE - 1) / max(sum(structured), 1)))
    turns = [share if own else count for count, own in zip(turns, structured, strict=True)]
    common = gcd(*turns)
    return tuple(count // common for count in turns)


def _multiples(counts: Sequence[int]) -> list[int]:
    """Turns in proportion to ``counts``: ``_TURNS`` of the median, ``_LEAST`` at least."""
    usual = max(median_low(counts), 1)
    return [max(_LEAST, round(_TURNS * count / usual)) for count in counts]


_STEP = round(2**64 * (5**0.5 - 1) / 2)
"""The golden section of the circle of 2**64: its multiples leave no large gap, however many."""


def order_of(families: Sequence[Family], key: str) -> tuple[int, ...]:
    """The number of the family of each case in a round, decided by ``key``.

    The turns of each are spread over the round, and the first ones over all families from the first
    case on: these are listed by what they are about.
    """
    first = next(_seeds(f"{key}/order"))
    places = (
        ((turn + (first + at * _STEP) % 2**64 / 2**64) / turns, at)
        for at, turns in enumerate(turns_of(families))
        for turn in range(turns)
    )
    return tuple(at for _, at in sorted(places))


def _cells(family: Family) -> list[int]:
    """The number of cells of each axis of ``family`` that cases are steered along."""
    return [
        len({repr(axis.cell(value)) for value in axis.values})
        for axis in family.axes
        if axis.steered
    ]


def _steered(family: Family, key: str, ruled_out: RuledOut) -> Iterator[AnyCase]:
    steering = Steering(family.axes)
    heard = len(steering.impossible)
    # Steering decides by the seed alone: a strategy of integers would cost more than the point.
    for seed in _seeds(f"{key}/{family.name}/valid"):
        point = steering.point(seed)
        for pair in steering.impossible[heard:]:
            ruled_out(family.name, *pair)
        heard = len(steering.impossible)
        yield family.build(point, seed % 2**32)


def _uniform(family: Family, key: str) -> Iterator[AnyCase]:
    for seed in _seeds(f"{key}/{family.name}/valid"):
        yield from _lot(cases(family), (1, _LOT), seed)


def invalid_calls(family: Family, key: str) -> Iterator[AnyCase]:
    """Invalid cases of ``family``, which has some: each fault in turn, so that none is rare."""
    name = f"{key}/{family.name}/invalid"
    drawn = [
        _examples(strategy, _seeds(f"{name}/{number}"))
        for number, strategy in enumerate(family.invalid)
    ]
    # Another stream begins with another fault.
    first = next(_seeds(name)) % len(drawn)
    while True:
        for faulty in (*drawn[first:], *drawn[:first]):
            yield next(faulty)


def _examples(strategy: st.SearchStrategy[AnyCase], seeds: Iterator[int]) -> Iterator[AnyCase]:
    for seed in seeds:
        yield from _lot(strategy, (1, _FEW), seed)


def _lot(strategy: st.SearchStrategy[T], counts: Sequence[int], seed: int) -> Iterator[T]:
    """As ``draw`` of the last of ``counts``, which rise; the others are tried first.

    More examples begin with the same ones: those not needed are not drawn.
    """
    drawn = 0
    for count in counts:
        examples = draw(strategy, count, seed)
        yield from examples[drawn:]
        drawn = len(examples)


def _seeds(name: str) -> Iterator[int]:
    """Seeds of 64 bits, one for each lot of examples."""
    for number in numbers():
        yield int.from_bytes(hashlib.sha256(f"{name}/{number}".encode()).digest()[:8], "big")
