"""Cases about KV caches as campaigns draw them, and what the control gives of them."""

from collections.abc import Iterator

from hypothesis import HealthCheck, Phase, given, seed, settings

from relaxcheck.generators.core.axes import SEEDS, Point, points
from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.family import family
from relaxcheck.harness.kvcache.execute import execute
from relaxcheck.harness.outcomes.outcome import Outcome
from tests.measure.quality.kvcache.control import DenseCache, with_flaw


def cases(count: int, number: int = 0) -> Iterator[KvCase]:
    """``count`` cases as campaigns draw them, without steering; ``number`` chooses which."""
    drawn: list[KvCase] = []
    own = family()

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(points(own.axes), SEEDS)
    def draw(point: Point, number: int) -> None:
        drawn.append(own.build(point, number))

    draw()
    yield from drawn[:count]


def judged(case: KvCase, flaw: str = "") -> Outcome:
    """The outcome of ``case`` on the control, with ``flaw``."""
    return execute(case, make=with_flaw(flaw) if flaw else DenseCache)
