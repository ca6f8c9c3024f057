"""Faults over the nights of a series: when each was seen, and what has become of it."""

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.reports.site.night import Night, Seen


class Fate(enum.StrEnum):
    """The state of a fault at the last night of its series."""

    NEW = "new"
    RETURNED = "came back"
    ALIVE = "alive"
    UNSEEN = "not seen"
    FIXED = "fixed"


MEANINGS = {
    Fate.NEW: "the last night saw it first",
    Fate.RETURNED: "the last night saw it again, after a night that did not",
    Fate.ALIVE: "the last night that drew its family saw it, as the one before, or is the first",
    Fate.UNSEEN: "the last night that drew its family did not see it, nor was it seen to be fixed",
    Fate.FIXED: "its case ran again and passed",
}

OPEN = (Fate.NEW, Fate.RETURNED, Fate.ALIVE)
"""The states of faults that the last night saw."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a series.

    ``last`` is how the last night that saw it did; ``first_seen``, ``last_seen`` and ``ended`` are
    numbers of nights in the series, from 0: the first and the last that saw it, and the one after
    that in which its case passed. ``nights`` saw it; ``cases`` are those of all.
    """

    last: Seen
    fate: Fate
    first_seen: int
    last_seen: int
    nights: int
    cases: int
    ended: int | None = None

    @property
    def declared(self) -> bool:
        """True if it was expected where it was last seen: nobody has to look into it."""
        return bool(self.last.declared)


@dataclass(frozen=True, slots=True)
class Series:
    """The ``nights`` of one release, side of the fixes and target, the first one first.

    ``compared`` is the number of the first night that the others are compared with: earlier ones
    grouped failures in another way.
    """

    nights: tuple[Night, ...]
    faults: tuple[Fault, ...]
    compared: int = 0

    @property
    def last(self) -> Night:
        """The last night."""
        return self.nights[-1]

    @property
    def title(self) -> str:
        """Its name for a person: ``TVM 0.27, fixes off``."""
        release, fixes, target = self.last.series
        words = (f"TVM {release.replace(' ', ', ')}", f"fixes {fixes}", target)
        return ", ".join(word for word in words if word)

    def of(self, *fates: Fate) -> tuple[Fault, ...]:
        """The faults in one of the states ``fates``, declared ones left out."""
        return tuple(each for each in self.faults if each.fate in fates and not each.declared)

    @property
    def declared(self) -> tuple[Fault, ...]:
        """The declared faults, in any state."""
        return tuple(each for each in self.faults if each.declared)


def series_of(nights: Iterable[Night]) -> tuple[Series, ...]:
    """``nights`` by series; error messages are no faults."""
    ordered = sorted(nights, key=lambda night: (night.series, night.began, night.name))
    return tuple(_series(tuple(group)) for _, group in groupby(ordered, lambda night: night.series))


def _series(nights: tuple[Night, ...]) -> Series:
    compared = next(
        number
        for number in range(len(nights))
        if all(night.fingerprints == nights[-1].fingerprints for night in nights[number:])
    )
    sightings: dict[str, dict[int, Seen]] = {}
    for number, night in enumerate(nights[compared:], compared):
        for seen in night.seen:
            if seen.severity not in (None, Severity.ERROR_MESSAGE):
                sightings.setdefault(seen.fingerprint, {})[number] = seen
    return Series(
        nights,
        tuple(_fault(each, nights, compared) for each in sightings.values()),
        compared,
    )


def _fault(sightings: dict[int, Seen], nights: Sequence[Night], compared: int) -> Fault:
    numbers = sorted(sightings)
    first, last = numbers[0], numbers[-1]
    seen = sightings[last]
    # A night that draws other families says nothing about this one's.
    asked = [
        number
        for number in range(compared, len(nights))
        if number in sightings or seen.family in nights[number].families
    ]
    ended = next((at for at in asked if at > last and seen.fingerprint in nights[at].gone), None)
    before = asked[: asked.index(last)]
    if last < asked[-1]:
        fate = Fate.UNSEEN if ended is None else Fate.FIXED
    elif last < len(nights) - 1 or not before or before[-1] in sightings:
        # All of the first night are as old as the project knows.
        fate = Fate.ALIVE
    else:
        fate = Fate.RETURNED if len(numbers) > 1 else Fate.NEW
    cases = sum(each.count for each in sightings.values())
    return Fault(seen, fate, first, last, len(numbers), cases, ended)
