"""The strategy of KV caches: drawn cases are valid, pass the control, and shrink."""

from hypothesis import HealthCheck, find, given, settings

from relaxcheck import strategies
from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.operations import Add, Fork
from relaxcheck.harness.kvcache.execute import execute
from tests.measure.quality.kvcache.control import DenseCache


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(strategies.kv_caches())
def test_the_control_passes_what_is_drawn(case: KvCase) -> None:
    assert execute(case, make=DenseCache).verdict.is_right


def test_a_sequence_shrinks() -> None:
    case = find(
        strategies.kv_caches(),
        lambda case: any(isinstance(each, Fork) for each in case.operations),
        settings=settings(deadline=None, max_examples=500, database=None),
    )
    assert case.model == KvCase(operations=()).model
    first, *rest = case.operations
    assert isinstance(first, Add)
    assert len(rest) <= 4
