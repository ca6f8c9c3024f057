"""Attention over several sequences reads only the offsets that exist."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from tests.fixes import compiled, reference


def build(length_dtype: str = "int32", offset_dtype: str = "int32") -> Any:
    shapes = (1, "Q", 4, 3), (1, "K", 2, 3), (1, "K", 2, 5), ("N",), (), ("N",), ()
    pair = (offset_dtype, length_dtype)
    return compiled.build(
        compiled.module(
            lambda *tensors: relax.op.nn.attention_var_len(*tensors),
            *shapes,
            dtypes=("float32",) * 3 + pair * 2,
        )
    )


def tensors(queries: int, keys: int) -> list[Any]:
    shapes = (1, queries, 4, 3), (1, keys, 2, 3), (1, keys, 2, 5)
    return [compiled.sample(shape, "float32", seed) for seed, shape in enumerate(shapes)]


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_the_longest_lengths_are_not_read(fixes_on: None, dtype: str) -> None:
    operands = tensors(5, 4)
    longest = np.array(0, dtype)
    starts, key_starts = np.array([0, 2, 5], "int32"), np.array([0, 1, 4], "int32")
    out = build(dtype)(*operands, starts, longest, key_starts, longest)
    want = reference.attention_var_len(*operands, [0, 2, 5], [0, 1, 4])
    np.testing.assert_allclose(out, want, rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_offsets_of_other_integers(fixes_on: None, dtype: str) -> None:
    operands = tensors(5, 4)
    longest = np.array(3, "int32")
    starts, key_starts = np.array([0, 2, 5], dtype), np.array([0, 1, 4], dtype)
    out = build(offset_dtype=dtype)(*operands, starts, longest, key_starts, longest)
    want = reference.attention_var_len(*operands, [0, 2, 5], [0, 1, 4])
    np.testing.assert_allclose(out, want, rtol=0, atol=1e-5)


def test_without_sequences_or_keys_all_is_zero(fixes_on: None) -> None:
    function, longest = build(), np.array(3, "int32")
    for starts, key_starts, keys in (
        ([0], [0], 3),
        ([], [], 3),
        ([0, 3], [0, 0], 0),
        ([0, 0, 0], [0, 1, 3], 3),
        ([0], [0], 0),
    ):
        ends = [np.array(each, "int32") for each in (starts, key_starts)]
        out = function(*tensors(3, keys), ends[0], longest, ends[1], longest)
        np.testing.assert_array_equal(out, np.zeros((1, 3, 4, 5)))
