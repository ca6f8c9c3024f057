"""Tensors with room around them."""

import re

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling.room import OutOfBounds, placed, roomy


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [((0, 3), "float32", 0), ((2,), "bfloat16", 4), ((3,), "bool", 3), ((), "int64", 8)],
)
def test_a_tensor_lies_within_its_room(shape: tuple[int, ...], dtype: str, size: int) -> None:
    made = roomy(shape, dtype)
    assert (tuple(made.tensor.shape), made.size) == (shape, size)
    assert str(made.tensor.dtype) == dtype
    made.memory[made.start : made.start + size] = 0
    made.check("f")


@pytest.mark.parametrize(
    ("at", "words"), [(0, "2 bytes after its result of 0"), (-2, "2 bytes before")]
)
def test_a_write_beside_the_tensor_is_seen(at: int, words: str) -> None:
    made = roomy((0,), "float32")
    # The bytes of fresh memory, which a function may copy from an empty operand.
    made.memory[made.start + at : made.start + at + 2] = 0x55
    with pytest.raises(OutOfBounds, match=re.escape(words)):
        made.check("f")


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3).T,
        np.array(5, np.int64),
        np.zeros((0, 4), np.float16),
        np.array([True, False, True]),
        np.array([1.5, -2], ml_dtypes.bfloat16),
    ],
    ids=lambda array: f"{array.dtype.name}{array.shape}",
)
def test_a_placed_array_keeps_its_elements(array: Array) -> None:
    made = placed(array, 0x55)
    copy = made.tensor.numpy()
    assert (copy.shape, copy.dtype) == (array.shape, array.dtype)
    np.testing.assert_array_equal(copy, array)
    assert (made.memory.ctypes.data + made.start) % 64 == 0


def test_the_room_of_an_argument_holds_the_byte_that_it_gets() -> None:
    made = placed(np.ones(3, np.float32), 0x55)
    assert set(made.memory[: made.start]) == set(made.memory[made.start + made.size :]) == {0x55}
    made.memory[made.start - 1] = 0
    with pytest.raises(OutOfBounds, match="1 byte before its argument of 12 bytes"):
        made.check("main")
