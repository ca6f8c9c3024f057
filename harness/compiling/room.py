"""Tensors with room around them, which shows what a function reads and writes out of their bounds.

A heap that something wrote to out of bounds is noticed by chance, or never. In the room of a tensor
each byte that changes is seen, on every run and every release. A function that reads there computes
with the bytes that the room was filled with, and not with what happens to lie in memory. Accesses
beyond the room show nothing.
"""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import tvm

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.outcomes.errors import OVERWRITTEN
from relaxcheck.harness.wording import plural

_ROOM = 1 << 12
_ALIGNED = 64
"""The alignment in bytes that TVM asks of a tensor's data."""
_FILL = 0xA7
"""A byte that differs from those that fresh memory is filled with (``harness.native.memory``)."""


class OutOfBounds(Exception):
    """A function wrote outside of a tensor; the message says where."""


@dataclass(frozen=True, slots=True)
class Roomy:
    """A ``tensor`` of ``size`` bytes at ``start`` of ``memory``, which has room on both sides.

    The room holds the byte ``fill``; errors call the tensor by its ``role``.
    """

    tensor: Any
    memory: Array
    start: int
    size: int
    fill: int = _FILL
    role: str = "result"

    def check(self, function: str) -> None:
        """Raise ``OutOfBounds`` if ``function`` changed a byte of the room."""
        sides = {
            "before": self.memory[: self.start],
            "after": self.memory[self.start + self.size :],
        }
        for side, room in sides.items():
            if changed := int((room != self.fill).sum()):
                raise OutOfBounds(
                    f"{function} {OVERWRITTEN}: it changed {plural(changed, 'byte')} {side} its "
                    f"{self.role} of {plural(self.size, 'byte')}"
                )


def roomy(shape: tuple[int, ...], dtype: str, fill: int = _FILL, role: str = "result") -> Roomy:
    """An uninitialized tensor of ``shape`` and ``dtype`` with room around it."""
    size = (prod(shape) * tvm.DataType(dtype).bits + 7) // 8
    # Not filled as a whole: elements that nothing writes have to show fresh memory.
    memory = np.empty(size + 2 * _ROOM + _ALIGNED, np.uint8)
    start = _ROOM - (memory.ctypes.data + _ROOM) % -_ALIGNED
    memory[:start] = fill
    memory[start + size :] = fill
    # An empty slice loses its place: TVM gets a byte of the room, and makes a tensor of no bytes.
    raw = tvm.runtime.from_dlpack(memory[start : start + max(size, 1)])
    return Roomy(raw._create_view(shape, dtype), memory, start, size, fill, role)


def placed(array: Array, fill: int) -> Roomy:
    """A tensor that holds a copy of ``array``, with room full of ``fill`` around it."""
    made = roomy(array.shape, array.dtype.name, fill, "argument")
    made.memory[made.start : made.start + made.size] = np.frombuffer(array.tobytes(), np.uint8)
    return made
