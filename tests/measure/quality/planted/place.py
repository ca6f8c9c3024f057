"""The place of a case in a campaign over everything, from its place among those of its family.

A campaign draws each family's cases from a stream of the family's own (``harness.campaign.drawing``
takes them in rounds), so that the case that a hunt over some families finds is the very case that a
campaign over all of them with the same seed finds. Programs of other families that contain the
operator may fail before it: the place is the latest at which the bug is found. ONNX models are
drawn in campaigns of their own.
"""

from functools import lru_cache

from relaxcheck.generators.families import every
from relaxcheck.generators.onnx.families import families as models
from relaxcheck.generators.onnx.running import PREFIX
from relaxcheck.harness.campaign.drawing import turns_of
from relaxcheck.harness.compiling.pipelines import PIPELINES


@lru_cache(maxsize=2)
def _rounds(of_models: bool) -> tuple[dict[str, tuple[int, int]], int]:
    """Of each family the cases of a round before its own, and its own; and those of all."""
    pipelines = tuple(PIPELINES)
    families = models(pipelines) if of_models else every(pipelines)
    places: dict[str, tuple[int, int]] = {}
    before = 0
    for family, turns in zip(families, turns_of(families), strict=True):
        places[family.name] = (before, turns)
        before += turns
    return places, before


def place(family: str, number: int) -> int:
    """The number of case ``number`` of ``family`` among those of all families; both from 1.

    Of a family of ONNX models, among those of all families of models.
    """
    places, whole = _rounds(family.startswith(f"{PREFIX}-"))
    before, turns = places[family]
    rounds, within = divmod(number - 1, turns)
    return rounds * whole + before + within + 1
