"""A stack whose contents are chosen: elements of a kernel's own buffers that nothing writes show.

A buffer of constant size below 1 KiB lies on the stack, and a larger one in a pool of its thread.
Neither is filled like other fresh memory (``harness.native.memory``), so that a kernel that reads
them before it writes is right by chance. In a new thread the pool is new, too.
"""

import ctypes
import mmap
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_BYTES = 4 << 20
_ATTRIBUTES = 64
"""The bytes of a pthread_attr_t: 56 on x86-64, 64 on AArch64."""
_ROUTINE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def on_filled_stack(byte: int, function: Callable[[], T]) -> T:
    """The result of ``function`` in a thread whose stack holds ``byte`` all over.

    It is called here where such a thread cannot start. Raises what ``function`` raises.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def routine(_: object) -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    library = ctypes.CDLL(None)
    stack = mmap.mmap(-1, _BYTES)
    stack.write(bytes([byte]) * _BYTES)
    start = ctypes.addressof(ctypes.c_char.from_buffer(stack))
    attributes = ctypes.create_string_buffer(_ATTRIBUTES)
    thread = ctypes.c_ulong()
    callback = _ROUTINE(routine)
    library.pthread_attr_init(attributes)
    set_to = library.pthread_attr_setstack(
        attributes, ctypes.c_void_p(start), ctypes.c_size_t(_BYTES)
    )
    if set_to or library.pthread_create(ctypes.byref(thread), attributes, callback, None):
        return function()
    library.pthread_join(thread, None)
    if errors:
        raise errors[0]
    return results[0]
