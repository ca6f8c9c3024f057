"""Examples of Hypothesis strategies that are functions of a seed."""

from random import Random
from typing import TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

T = TypeVar("T")


class SeededProvider(HypothesisProvider):
    """Hypothesis's own way of drawing, but that the seed alone decides.

    Otherwise it mixes in constants from the source of every module that happens to be imported.
    """

    def _maybe_draw_constant(self, *arguments: object, **options: object) -> None:
        return None


SEEDED = "relaxcheck-seeded"
"""The name of ``SeededProvider`` for ``hypothesis.settings(backend=…)``."""
AVAILABLE_PROVIDERS[SEEDED] = f"{__name__}.{SeededProvider.__name__}"


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
        backend=SEEDED,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(strategy)
    def collect(example: T) -> None:
        drawn.append(example)

    collect()
    return drawn[1:]


def example(strategy: st.SearchStrategy[T], seed: int) -> T:
    """One example of ``strategy``, decided by ``seed``.

    Strategies that begin with the same choices begin alike at the same seed. A run of Hypothesis
    would not do: it makes each example differ from those before, the simplest one first, and costs
    more than all the draws of a program. ``strategy`` may be made of composites, integers and
    samples; what is mapped, flat-mapped or built needs a run.
    """
    data = ConjectureData(random=Random(seed), provider=SeededProvider)
    return data.draw(strategy)
