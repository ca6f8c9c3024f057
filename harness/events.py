"""What happened to a campaign besides its cases: workers that died, interruptions, repairs."""

import enum
from collections import Counter
from collections.abc import Sequence

import msgspec


class What(enum.StrEnum):
    """What can happen. ``DESCRIPTIONS`` says what each one means, with room for how often."""

    DIED = "worker died"
    TIMED_OUT = "worker timed out"
    OUTGREW = "worker outgrew its memory"
    KILLED = "worker killed from outside"
    LOST = "worker lost between cases"
    RECYCLED = "worker recycled"
    RESTARTED = "workers' parent restarted"
    RETRIED = "case retried alone"
    UNREPEATED = "failed in its block alone"
    INTERRUPTED = "interrupted"
    RESUMED = "resumed"
    SALVAGED = "salvaged"
    GONE = "release gone"


DESCRIPTIONS = {
    What.DIED: "{} workers died of their case",
    What.TIMED_OUT: "{} were ended at their deadline",
    What.OUTGREW: "{} outgrew their memory",
    What.KILLED: "{} were killed from outside (their cases ran again)",
    What.LOST: "{} ended between two cases",
    What.RECYCLED: "{} were replaced after their number of cases, or for what they kept",
    What.RESTARTED: "the workers' parent was started again {} times",
    What.RETRIED: "{} cases failed to run together with others and ran alone",
    What.UNREPEATED: "{} failures in blocks of expressions, or beside others of one expression, "
    "did not come again alone",
}
"""Of everything that is only counted; the rest is told one by one."""


class Event(msgspec.Struct, frozen=True):
    """Something that happened; ``text`` says the particulars in one line."""

    what: What
    text: str


def told(events: Sequence[Event], unended: int) -> list[str]:
    """What ``events`` come to, and how many cases are ``unended``, in as few lines as it takes."""
    counts = Counter(event.what for event in events)
    counted = [text.format(counts[what]) for what, text in DESCRIPTIONS.items() if counts[what]]
    single = [
        f"{event.what} {event.text}" if event.what is What.INTERRUPTED else event.text
        for event in events
        if event.what in (What.INTERRUPTED, What.SALVAGED, What.GONE)
    ]
    if counts[What.RESUMED]:
        times = "once" if counts[What.RESUMED] == 1 else f"{counts[What.RESUMED]} times"
        single.append(f"resumed {times}")
    if unended:
        single.append(f"{unended} of the cases that began have not ended: --resume runs them")
    return [
        *([f"Workers: {', '.join(counted)}."] if counted else []),
        *([f"The campaign: {'; '.join(single)}."] if single else []),
    ]
