"""A stack whose contents are chosen."""

import ctypes

import pytest

from relaxcheck.harness.native.stack import on_filled_stack


def test_a_function_runs_on_its_own_stack() -> None:
    assert on_filled_stack(0x55, lambda: sum(range(10))) == 45
    with pytest.raises(ZeroDivisionError):
        on_filled_stack(0x55, lambda: 1 // 0)


@pytest.mark.parametrize("byte", [0x55, 0x4A])
def test_memory_below_the_frames_holds_the_byte(byte: int) -> None:
    def read() -> bytes:
        # Far below an address on this thread's stack.
        here = ctypes.c_size_t()
        library = ctypes.CDLL(None)
        attributes = ctypes.create_string_buffer(64)
        library.pthread_self.restype = ctypes.c_ulong
        library.pthread_getattr_np(ctypes.c_ulong(library.pthread_self()), attributes)
        size = ctypes.c_size_t()
        library.pthread_attr_getstack(attributes, ctypes.byref(here), ctypes.byref(size))
        return ctypes.string_at(here.value + size.value // 2, 64)

    assert on_filled_stack(byte, read) == bytes([byte]) * 64
