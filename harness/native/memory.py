"""The contents of fresh memory, chosen: elements that nothing writes then show.

glibc fills blocks that it hands out (``mallopt(M_PERTURB, …)``) with a byte, but for those of its
cache of small blocks, which ``WITHOUT_CACHE`` turns off. TVM allocates tensors from it. Without
that a fresh page is all zeros, which is often the right result.

What a kernel allocates for itself is not filled, so that a wrong value out of it (attention over no
keys, whose product nothing writes) is not recognized as undefined:

* A buffer of constant size below 1 KiB lies on the stack, and a larger one comes from
  ``TVMBackendAllocWorkspace``, which keeps a pool for each thread and hands out the same pages
  again. ``harness.native.stack`` fills both; but frames of earlier calls may lie there since.
* TVM's pass StorageRewrite lets buffers of one kernel share memory. The unwritten one then holds an
  earlier one's numbers, whatever the pages held. Only a second compilation, with the option
  ``tirx.disable_storage_rewrite``, shows it; and that is another program than the one that failed.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_M_PERTURB = -6
"""The parameter's number in glibc's malloc.h."""

USUAL, OTHER = 0x55, 0x4A
"""Two bytes that differ in the last bit. Repeated, they are 1.5e13 and 3.3e6 in float32."""

WITHOUT_CACHE = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
"""The environment of a process in which all fresh memory can be filled."""


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
