"""The place of a case in a campaign over everything, from its place among those of its family.

A campaign draws each family's cases from a stream of the family's own (``harness.campaign.drawing``
takes them in rounds), so that the case that a hunt over some families finds is the very case that a
campaign over all of them with the same seed finds. Programs of other families that contain the
operator may fail before it: the place is the latest at which the bug is found.
"""

from functools import lru_cache

from relaxcheck.generators.families import every
from relaxcheck.harness.campaign.drawing import turns_of
from relaxcheck.harness.compiling.pipelines import PIPELINES


@lru_cache(maxsize=1)
def _rounds() -> tuple[dict[str, tuple[int, int]], int]:
    """Of each family the cases of a round before its own, and its own; and those of all."""
    families = every(tuple(PIPELINES))
    places: dict[str, tuple[int, int]] = {}
    before = 0
    for family, turns in zip(families, turns_of(families), strict=True):
        places[family.name] = (before, turns)
        before += turns
    return places, before


def place(family: str, number: int) -> int:
    """The number of case ``number`` of ``family`` among those of all families; both from 1."""
    places, whole = _rounds()
    before, turns = places[family]
    rounds, within = divmod(number - 1, turns)
    return rounds * whole + before + within + 1
