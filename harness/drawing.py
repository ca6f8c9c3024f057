"""Cases of a campaign: an endless stream that is a function of a seed."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count as numbers
from pathlib import Path
from typing import TypeVar

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

from generators.axes import Family, cases
from generators.cases import AnyCase
from generators.program import ORDINARY_REGIMES, Case
from generators.steering import Steering

T = TypeVar("T")

_VALID = 7
"""Valid cases of a family for each invalid one."""

_LOT = 24
"""Examples that Hypothesis draws at a time."""

_FEW = 4
"""As many, of one fault: it takes a long campaign to use more."""

_CHOICES = st.integers(0, 2**64 - 1)


class SeededProvider(HypothesisProvider):
    """Hypothesis's own way of drawing, but that the seed alone decides.

    Otherwise it mixes in constants from the source of every module that happens to be imported.
    """

    def _maybe_draw_constant(self, *arguments: object, **options: object) -> None:
        return None


_BACKEND = "relaxcheck-seeded"
AVAILABLE_PROVIDERS[_BACKEND] = f"{__name__}.{SeededProvider.__name__}"


def keep_hypothesis_in(directory: Path) -> None:
    """Have Hypothesis keep its own files in ``directory``, not in the user's folder."""
    set_hypothesis_home_dir(directory)


def draw(strategy: st.SearchStrategy[T], count: int, seed: int) -> list[T]:
    """About ``count`` examples of ``strategy``, the same for the same ``seed``.

    The simplest example is left out: Hypothesis begins with it, whatever the seed.
    """
    drawn: list[T] = []

    @hypothesis.seed(seed)
    @settings(
        max_examples=count + 1,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        backend=_BACKEND,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(strategy)
    def collect(example: T) -> None:
        drawn.append(example)

    collect()
    return drawn[1:]


@dataclass(frozen=True, slots=True)
class Shard:
    """Stream ``number`` (from 1) of ``of``: a part of a campaign that needs to know of no other.

    The same number draws the same cases whatever ``of`` is, but for the only stream of one: that
    is the campaign that is not split.
    """

    number: int = 1
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"shard {self} is none: from 1/{self.of} to {self.of}/{self.of}")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def key(self, seed: int) -> str:
        """What everything in this stream is derived from."""
        return str(seed) if self.of == 1 else f"{seed}/stream {self.number}"


WHOLE = Shard()
"""A campaign that is not split."""


def stream(
    families: Sequence[Family], seed: int, *, uniform: bool = False, shard: Shard = WHOLE
) -> Iterator[AnyCase]:
    """One case of each of ``families`` in turn, without end; one in eight is an invalid program,
    in families that have such.

    A valid one in an ordinary regime is to be run in the other ordinary ones too: to compile it
    costs far more than to run it.

    Valid cases are steered towards pairs of cells not drawn yet (see ``generators.steering``). If
    ``uniform``, Hypothesis draws every axis by its weights alone.
    """
    valid = _uniform if uniform else _steered
    key = shard.key(seed)
    drawn = [
        (valid(family, key), _invalid(family, key) if family.invalid else None)
        for family in families
    ]
    for number in numbers():
        for own_valid, own_invalid in drawn:
            if own_invalid is None or (number + 1) % (_VALID + 1):
                yield _in_all_regimes(next(own_valid))
            else:
                yield next(own_invalid)


def _in_all_regimes(case: AnyCase) -> AnyCase:
    if not isinstance(case, Case) or case.regime not in ORDINARY_REGIMES:
        return case
    others = tuple(regime for regime in ORDINARY_REGIMES if regime != case.regime)
    return msgspec.structs.replace(case, also=others)


def _steered(family: Family, key: str) -> Iterator[AnyCase]:
    steering = Steering(family.axes)
    for seed in _seeds(f"{key}/{family.name}/valid"):
        for choice in dict.fromkeys(draw(_CHOICES, _LOT, seed)):
            # Hypothesis prefers small integers, and small ones come again in another lot.
            mixed = choice ^ seed
            yield family.build(steering.point(mixed), mixed % 2**32)


def _uniform(family: Family, key: str) -> Iterator[AnyCase]:
    for seed in _seeds(f"{key}/{family.name}/valid"):
        yield from draw(cases(family), _LOT, seed)


def _invalid(family: Family, key: str) -> Iterator[AnyCase]:
    """Each fault in turn, so that none is rare."""
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
    first = next(seeds)
    alone = draw(strategy, 1, first)
    yield from alone
    # The same again and more: the first hundreds of cases need no second one of any fault.
    yield from draw(strategy, _FEW, first)[len(alone) :]
    for seed in seeds:
        yield from draw(strategy, _FEW, seed)


def _seeds(name: str) -> Iterator[int]:
    """Seeds of 64 bits, one for each lot."""
    for number in numbers():
        yield int.from_bytes(hashlib.sha256(f"{name}/{number}".encode()).digest()[:8], "big")
