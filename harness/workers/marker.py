"""The shared marker: the stage of a worker, readable after the worker is gone."""

import mmap
from dataclasses import dataclass

from relaxcheck.harness.outcomes.outcome import INSTALLING

SIZE = 256

IDLE = "idle"
"""The stage of a worker that has no case, or has not begun with it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The stage of a worker, and the number of its current case within its order.

    The number is None in a stage that all cases of the order share.
    """

    stage: str
    number: int | None = 0

    @property
    def installs(self) -> bool:
        """True of the stage that puts the fixes on, whose time is no case's."""
        return self.stage == INSTALLING


def mark(marker: mmap.mmap, stage: str, number: int | None = 0) -> None:
    """Write the stage and the number of the case into the marker."""
    text = f"{'' if number is None else number} {stage}"
    marker[:] = text.encode()[: SIZE - 1].ljust(SIZE, b"\0")


def marked(marker: mmap.mmap) -> Mark:
    """The content of the marker."""
    number, _, stage = bytes(marker[:]).rstrip(b"\0").decode(errors="replace").partition(" ")
    return Mark(stage, int(number) if number else None)
