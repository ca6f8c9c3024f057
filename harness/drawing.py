"""Hypothesis at work for a campaign: batches of cases that are a function of a seed."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from generators.axes import Family, cases
from generators.program import Case

T = TypeVar("T")

_BATCH = 24
_INVALID_EVERY = 8


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


def stream(families: Sequence[Family], seed: int) -> Iterator[Case]:
    """Cases of all ``families`` in turn, without end; one batch in eight is of invalid programs."""
    number = 0
    while True:
        for family in families:
            invalid = number % _INVALID_EVERY == _INVALID_EVERY - 1
            key = hashlib.sha256(f"{seed}/{family.name}/{number}".encode()).digest()
            strategy = family.invalid if invalid else cases(family)
            yield from draw(strategy, _BATCH, int.from_bytes(key[:8], "big"))
        number += 1
