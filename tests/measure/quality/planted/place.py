"""The place of a case in a campaign over everything, from its place among those of its family.

A campaign draws each family's cases from a stream of the family's own (``harness.campaign.drawing``
takes them in rounds), so that the case that a hunt over some families finds is the very case that a
campaign over all of them with the same seed finds. Programs of other families that contain the
operator may fail before it: the place is the latest at which the bug is found. ONNX models and
PyTorch programs are drawn in campaigns of their own.
"""

from functools import lru_cache
from itertools import count as numbers

from relaxcheck.generators.families import every
from relaxcheck.generators.onnx.families import families as models
from relaxcheck.generators.onnx.running import PREFIX as ONNX
from relaxcheck.generators.torch.families import families as programs
from relaxcheck.generators.torch.running import PREFIX as TORCH
from relaxcheck.harness.campaign.drawing import turns_of
from relaxcheck.harness.compiling.pipelines import PIPELINES


@lru_cache(maxsize=3)
def _rounds(kind: str) -> tuple[dict[str, tuple[int, int]], int]:
    """Of each family the cases of a round before its own, and its own; and those of all."""
    pipelines = tuple(PIPELINES)
    families = _OF_KIND.get(kind, every)(pipelines)
    places: dict[str, tuple[int, int]] = {}
    before = 0
    for family, turns in zip(families, turns_of(families), strict=True):
        places[family.name] = (before, turns)
        before += turns
    return places, before


_OF_KIND = {ONNX: models, TORCH: programs}
"""The families of the kinds that have campaigns of their own, by how their names begin."""


def place(family: str, number: int) -> int:
    """The number of case ``number`` of ``family`` among those of all families; both from 1.

    Of a family of ONNX models, or of PyTorch programs, among those of all families of its kind.
    """
    kind = family.partition("-")[0]
    places, whole = _rounds(kind if kind in _OF_KIND else "")
    before, turns = places[family]
    rounds, within = divmod(number - 1, turns)
    return rounds * whole + before + within + 1


def cases_of(family: str, most: int) -> int:
    """The number of cases of ``family`` among the first ``most`` of that campaign."""
    return next(count for count in numbers(0) if place(family, count + 1) > most)
