"""The shared marker: which stage a worker is in, readable after the worker is gone."""

import mmap

SIZE = 256

IDLE = "idle"
"""What stands there while a worker has no case, or has not begun with it."""


def mark(marker: mmap.mmap, stage: str) -> None:
    """Write ``stage`` into the marker."""
    marker[:] = stage.encode()[: SIZE - 1].ljust(SIZE, b"\0")


def marked(marker: mmap.mmap) -> str:
    """The stage that stands in the marker."""
    return bytes(marker[:]).rstrip(b"\0").decode(errors="replace")
