"""Events of a campaign besides its cases: workers that died, interruptions, repairs."""

import enum
from collections import Counter
from collections.abc import Sequence

import msgspec


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


DESCRIPTIONS = {
    EventType.DIED: "{} workers died of their case",
    EventType.TIMED_OUT: "{} were ended at their deadline",
    EventType.OUTGREW: "{} outgrew their memory",
    EventType.KILLED: "{} were killed from outside (their cases ran again)",
    EventType.LOST: "{} ended between two cases",
    EventType.CORRUPTED: (
        "{} died of a corrupted heap after several cases (the last ran again in a fresh process)"
    ),
    EventType.RECYCLED: "{} were replaced after their number of cases, or for what they kept",
    EventType.RESTARTED: "the workers' parent was started again {} times",
    EventType.RETRIED: "{} cases failed to run together with others and ran alone",
    EventType.UNREPEATED: (
        "{} failures in blocks of expressions, or beside others of one expression, did not come "
        "again alone"
    ),
}
"""Descriptions of the types that are counted, with a place for the number."""


class Event(msgspec.Struct, frozen=True):
    """One event; ``text`` has the particulars in one line."""

    type: EventType
    text: str


def summary_of(events: Sequence[Event], unended: int) -> list[str]:
    """A summary of ``events`` and of the number of ``unended`` cases, in a few lines."""
    counts = Counter(event.type for event in events)
    counted = [text.format(counts[kind]) for kind, text in DESCRIPTIONS.items() if counts[kind]]
    single = [
        f"{event.type} {event.text}" if event.type is EventType.INTERRUPTED else event.text
        for event in events
        if event.type in (EventType.INTERRUPTED, EventType.SALVAGED, EventType.GONE)
    ]
    if counts[EventType.RESUMED]:
        count = counts[EventType.RESUMED]
        single.append("resumed once" if count == 1 else f"resumed {count} times")
    if unended:
        single.append(f"{unended} of the cases that began have not ended: --resume runs them")
    return [
        *([f"Workers: {', '.join(counted)}."] if counted else []),
        *([f"The campaign: {'; '.join(single)}."] if single else []),
    ]
