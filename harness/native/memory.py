"""The contents of fresh memory, chosen: what nobody writes then shows, and shows every time.

glibc fills each block that it hands out (``mallopt(M_PERTURB, …)``) with a byte; TVM allocates
tensors from it. Without that a fresh page is all zeros, which is often the right result.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_M_PERTURB = -6
"""The parameter's number in glibc's malloc.h."""

USUAL, OTHER = 0x55, 0x4B
"""Two bytes. Repeated, each is a number far from 0 in every dtype: 1.5e13 and 1.3e7 in float32."""


@cache
def _libc() -> Any:
    return ctypes.CDLL(None)


@contextmanager
def filled(byte: int) -> Iterator[None]:
    """Within the block fresh memory of this process holds ``byte``; elsewhere than in glibc not."""
    mallopt = getattr(_libc(), "mallopt", None)
    if mallopt is None:
        yield
        return
    # A block is filled with the complement when it is handed out.
    mallopt(_M_PERTURB, byte ^ 0xFF)
    try:
        yield
    finally:
        mallopt(_M_PERTURB, 0)
