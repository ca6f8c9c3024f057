"""The figures of the coverage section: what is possible, what counts as drawn, what is missed."""

from math import prod

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.points import integer
from relaxcheck.generators.families import family
from tests.generators.drawn import PIPELINES, at_random
from tests.measure.quality.drawn import Reach
from tests.measure.quality.generator_coverage import missed
from tests.measure.quality.work import multiply_adds


def test_pairs_are_counted_against_those_that_are_possible() -> None:
    member = family("attention_var_len", PIPELINES)
    reach = Reach(member)
    assert reach.figures()["pairs_drawn"] == 0
    point = complete(member.axes, {})
    reach.add(point)
    reach.add(point)
    axes = len(member.axes)
    figures = reach.figures()
    assert figures["pairs_drawn"] == axes * (axes - 1) // 2
    assert figures["cells_drawn"] == axes
    assert figures["drawn"] == 2
    for other in at_random(member.axes, 5_000):
        reach.add(other)
    assert reach.figures()["pairs_drawn"] == reach.figures()["pairs"]
    assert reach.figures()["value_pairs_at_most"] == reach.figures()["value_pairs"]


def test_the_work_of_a_convolution_is_the_product_of_its_extents() -> None:
    member = family("conv2d_transpose", PIPELINES)
    names = ("batch", "groups", "in_channels_per_group", "out_channels_per_group")
    extents = (*names, "size.h", "size.w", "kernel.h", "kernel.w")
    for point in at_random(member.axes, 100):
        case = member.build(point, 0)
        wanted = prod(integer(point, name) for name in extents)
        assert multiply_adds(case, case.bindings[0]) == wanted


def _figures(drawn: int, discarded: int, milliseconds: float) -> dict[str, object]:
    pairs = {"cases": 400, "pairs": 1_000, "pairs_drawn": drawn}
    return {
        "streams": [
            {"seed": 1, "uniform": uniform, "milliseconds_per_case": milliseconds}
            for uniform in (False, True)
        ],
        "alone": [
            {"seed": 1, "uniform": False, "families": {"a": pairs}},
            {"seed": 1, "uniform": True, "families": {"a": {**pairs, "pairs_drawn": 0}}},
        ],
        "discarded": {"steered": {"begun": 100, "discarded": discarded}},
    }


def test_missed_targets_are_named() -> None:
    assert missed(_figures(990, 5, 5.0)) == []
    (pairs,) = missed(_figures(989, 5, 5.0))
    assert "98.90% of the pairs" in pairs
    (draws,) = missed(_figures(990, 6, 5.0))
    assert "6 of 100 draws" in draws
    (price,) = missed(_figures(990, 5, 5.1))
    assert "5.1 ms" in price
