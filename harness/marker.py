"""The shared marker: what a worker is doing, readable after the worker is gone."""

import mmap
from dataclasses import dataclass

SIZE = 256

IDLE = "idle"
"""The stage that stands there while a worker has no case, or has not begun with it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The stage that a worker is in, and the number of the case of its order that it is on.

    The number is None in a stage that all cases of the order share.
    """

    stage: str
    number: int | None = 0


def mark(marker: mmap.mmap, stage: str, number: int | None = 0) -> None:
    """Write what is being done into the marker."""
    text = f"{'' if number is None else number} {stage}"
    marker[:] = text.encode()[: SIZE - 1].ljust(SIZE, b"\0")


def marked(marker: mmap.mmap) -> Mark:
    """What stands in the marker."""
    number, _, stage = bytes(marker[:]).rstrip(b"\0").decode(errors="replace").partition(" ")
    return Mark(stage, int(number) if number else None)
