"""Events of a campaign besides its cases: workers that died, interruptions, repairs."""

import enum
from collections import Counter
from collections.abc import Sequence

import msgspec

from relaxcheck.harness.wording import plural


class EventType(enum.StrEnum):
    """Types of events. ``DESCRIPTIONS`` describes those that are counted."""

    DIED = "worker died"
    TIMED_OUT = "worker timed out"
    OUTGREW = "worker outgrew its memory"
    KILLED = "worker killed from outside"
    LOST = "worker lost between cases"
    CORRUPTED = "worker's heap corrupted"
    RECYCLED = "worker recycled"
    RESTARTED = "workers' parent restarted"
    RETRIED = "case retried alone"
    UNREPEATED = "failed in its block alone"
    INTERRUPTED = "interrupted"
    RESUMED = "resumed"
    SALVAGED = "salvaged"
    GONE = "release gone"
    CURED = "known finding cured"


DESCRIPTIONS = {
    EventType.DIED: ("1 worker died of its case", "{} workers died of their case"),
    EventType.TIMED_OUT: ("1 was ended at its deadline", "{} were ended at their deadline"),
    EventType.OUTGREW: ("1 outgrew its memory", "{} outgrew their memory"),
    EventType.KILLED: (
        "1 was killed from outside (its case ran again)",
        "{} were killed from outside (their cases ran again)",
    ),
    EventType.LOST: ("1 ended between two cases", "{} ended between two cases"),
    EventType.CORRUPTED: tuple(
        f"{number} died of a corrupted heap after several cases (the last ran again in a fresh "
        "process)"
        for number in ("1", "{}")
    ),
    EventType.RECYCLED: (
        "1 was replaced after its number of cases, or for what it kept",
        "{} were replaced after their number of cases, or for what they kept",
    ),
    EventType.RESTARTED: (
        "the workers' parent was started again once",
        "the workers' parent was started again {} times",
    ),
    EventType.RETRIED: (
        "1 case failed to run together with others and ran alone",
        "{} cases failed to run together with others and ran alone",
    ),
    EventType.UNREPEATED: tuple(
        f"{failures} in blocks of expressions, or beside others of one expression, did not come "
        "again alone"
        for failures in ("1 failure", "{} failures")
    ),
}
"""Descriptions of the types that are counted: of one event, and of so many (``{}``)."""


class Event(msgspec.Struct, frozen=True):
    """One event; ``text`` has the particulars in one line."""

    type: EventType
    text: str


def summary_of(events: Sequence[Event], unended: int) -> list[str]:
    """A summary of ``events`` and of the number of ``unended`` cases, in a few lines."""
    counts = Counter(event.type for event in events)
    counted = [
        single if counts[kind] == 1 else several.format(counts[kind])
        for kind, (single, several) in DESCRIPTIONS.items()
        if counts[kind]
    ]
    listed = [
        f"{event.type} {event.text}" if event.type is EventType.INTERRUPTED else event.text
        for event in events
        if event.type in (EventType.INTERRUPTED, EventType.SALVAGED, EventType.GONE)
    ]
    if counts[EventType.RESUMED]:
        count = counts[EventType.RESUMED]
        listed.append("resumed once" if count == 1 else f"resumed {count} times")
    if counts[EventType.CURED]:
        cured = plural(counts[EventType.CURED], "known finding")
        listed.append(f"{cured} ran again and passed")
    if unended:
        has = "has" if unended == 1 else "have"
        listed.append(f"{unended} of the cases that began {has} not ended: --resume runs them")
    return [
        *([f"Workers: {', '.join(counted)}."] if counted else []),
        *([f"The campaign: {'; '.join(listed)}."] if listed else []),
    ]
