"""Cases of a campaign: an endless stream that is a function of a seed."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import count as numbers
from itertools import islice
from pathlib import Path
from typing import TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from generators.axes import Family, cases
from generators.program import Case
from generators.steering import Steering

T = TypeVar("T")

_VALID = 21
_INVALID = 3

_LOT = 24
"""Examples that Hypothesis draws at a time; the first of each lot is always the simplest."""

_CHOICES = st.integers(0, 2**64 - 1)


def keep_hypothesis_in(directory: Path) -> None:
    """Have Hypothesis keep its own files in ``directory``, not in the user's folder."""
    set_hypothesis_home_dir(directory)


def draw(strategy: st.SearchStrategy[T], count: int, seed: int) -> list[T]:
    """About ``count`` distinct examples of ``strategy``, the same for the same ``seed``."""
    drawn: list[T] = []

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(strategy)
    def collect(example: T) -> None:
        drawn.append(example)

    collect()
    return drawn


def stream(families: Sequence[Family], seed: int, *, uniform: bool = False) -> Iterator[Case]:
    """Cases of all ``families`` in turn, without end; one in eight is an invalid program.

    Valid cases are steered towards pairs of cells not drawn yet (see ``generators.steering``). If
    ``uniform``, Hypothesis draws every axis by its weights alone.
    """
    valid = _uniform if uniform else _steered
    drawn = [(valid(family, seed), _invalid(family, seed)) for family in families]
    while True:
        for own_valid, own_invalid in drawn:
            yield from islice(own_valid, _VALID)
            yield from islice(own_invalid, _INVALID)


def _steered(family: Family, seed: int) -> Iterator[Case]:
    steering = Steering(family.axes)
    for key in _keys(f"{seed}/{family.name}/valid"):
        for choice in draw(_CHOICES, _LOT, key):
            # The first choice of each lot is 0.
            mixed = choice ^ key
            yield family.build(steering.point(mixed), mixed % 2**32)


def _uniform(family: Family, seed: int) -> Iterator[Case]:
    for key in _keys(f"{seed}/{family.name}/valid"):
        yield from draw(cases(family), _LOT, key)


def _invalid(family: Family, seed: int) -> Iterator[Case]:
    for key in _keys(f"{seed}/{family.name}/invalid"):
        yield from draw(family.invalid, _LOT, key)


def _keys(name: str) -> Iterator[int]:
    """Seeds of 64 bits, one for each lot."""
    for number in numbers():
        yield int.from_bytes(hashlib.sha256(f"{name}/{number}".encode()).digest()[:8], "big")
