"""Tensors with room around them."""

import re

import pytest

from relaxcheck.harness.compiling.room import OutOfBounds, roomy


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
