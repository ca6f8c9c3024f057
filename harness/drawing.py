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

_VALID = 21
_INVALID = 3


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
    """Cases of all ``families`` in turn, without end; one in eight is an invalid program."""
    number = 0
    while True:
        for family in families:
            key = hashlib.sha256(f"{seed}/{family.name}/{number}".encode()).digest()
            own = int.from_bytes(key[:8], "big")
            yield from draw(cases(family), _VALID, own)
            yield from draw(family.invalid, _INVALID, own)
        number += 1
