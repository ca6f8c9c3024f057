"""The place of a case in a campaign over everything, from its place among those of its family.

A campaign draws each family's cases from a stream of the family's own (``harness.campaign.drawing``
takes them in rounds, in an order that the seed decides), so that the case that a hunt over some
families finds is the very case that a campaign over all of them with the same seed finds. Programs
of other families that contain the operator may fail before it: the place is the latest at which the
bug is found. ONNX models and PyTorch programs are drawn in campaigns of their own.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import count as numbers

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.families import every
from relaxcheck.generators.onnx.families import families as models
from relaxcheck.generators.onnx.running import PREFIX as ONNX
from relaxcheck.generators.torch.families import families as programs
from relaxcheck.generators.torch.running import PREFIX as TORCH
from relaxcheck.harness.campaign.drawing import WHOLE, order_of
from relaxcheck.harness.compiling.pipelines import PIPELINES
from tests.measure.quality.passes.families import CAMPAIGN as PASSES
from tests.measure.quality.passes.families import families as passes


def families_beside(name: str) -> Sequence[Family]:
    """The families of the campaign that draws cases of the family ``name``."""
    kind = name.partition("-")[0]
    return _CAMPAIGNS[kind if kind in _OF_KIND else ""]()


@lru_cache(maxsize=8)
def _rounds(campaign: str, seed: int) -> tuple[dict[str, list[int]], int]:
    """Of each family the places of its cases in a round, from 0; and the cases of a round."""
    families = _CAMPAIGNS[campaign]()
    places: dict[str, list[int]] = {family.name: [] for family in families}
    order = order_of(families, WHOLE.key(seed))
    for place, at in enumerate(order):
        places[families[at].name].append(place)
    return places, len(order)


_OF_KIND = (ONNX, TORCH)
"""The kinds that have campaigns of their own: the names of their families begin so."""

_CAMPAIGNS: Mapping[str, Callable[[], Sequence[Family]]] = {
    "": lambda: every(tuple(PIPELINES)),
    ONNX: lambda: models(tuple(PIPELINES)),
    TORCH: lambda: programs(tuple(PIPELINES)),
    PASSES: passes,
}
"""The families of each campaign, by its name."""


def place(family: str, number: int, seed: int, campaign: str | None = None) -> int:
    """The number of case ``number`` of ``family`` among those of all families; both from 1.

    Of a family of ONNX models, or of PyTorch programs, among those of all families of its kind; of
    any one among those of ``campaign``, if it is named.
    """
    kind = family.partition("-")[0]
    places, whole = _rounds(campaign or (kind if kind in _OF_KIND else ""), seed)
    rounds, within = divmod(number - 1, len(places[family]))
    return rounds * whole + places[family][within] + 1


def cases_of(family: str, most: int, seed: int) -> int:
    """The number of cases of ``family`` among the first ``most`` of that campaign."""
    return next(count for count in numbers(0) if place(family, count + 1, seed) > most)
