"""Permutations that are not of empty tensors are TVM's; those that are read nothing."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

import fixes
from tests.fixes import compiled


@pytest.mark.parametrize("shape", [(1, 3, 1), (2, 1, "N"), (1, 1, 1), ("N", "M", 3)])
@pytest.mark.parametrize("axes", [None, [1, 2, 0]])
def test_values(fixes_on: None, shape: tuple[Any, ...], axes: list[int] | None) -> None:
    program = compiled.module(lambda x: relax.op.permute_dims(x, axes), shape)
    function = compiled.build(program)
    for binding in ({"N": 2, "M": 4}, {"N": 0, "M": 1}):
        array = compiled.sample(compiled.size(shape, binding))
        np.testing.assert_array_equal(function(array), array.transpose(axes))


@pytest.mark.parametrize("dtype", ["float16", "int8", "bool"])
def test_dtype_and_shape_of_an_empty_one(fixes_on: None, dtype: str) -> None:
    shape = (2, 0, "N", 5)
    for axes in (None, [3, 1, 0, 2], [-1, 0, -2, 1]):
        program = compiled.module(
            lambda x, axes=axes: relax.op.permute_dims(x, axes), shape, dtypes=(dtype,)
        )
        array = np.zeros((2, 0, 3, 5), dtype)
        out = compiled.build(program)(array)
        assert out.shape == array.transpose(axes).shape
        assert out.dtype == array.dtype


def test_what_is_lowered_reads_nothing(fixes_on: None) -> None:
    program = compiled.module(lambda x: relax.op.permute_dims(x, [1, 0]), (0, 3))
    text = str(relax.transform.LegalizeOps()(program))
    assert "T.reads()" in text
    assert 'R.Tensor((3, 0), dtype="float32")' in text


def test_the_lowering_of_tvm_is_asked_otherwise() -> None:
    program = compiled.module(lambda x: relax.op.permute_dims(x, [1, 0]), (2, 3))
    want = str(relax.transform.LegalizeOps()(program))
    with fixes.install():
        assert str(relax.transform.LegalizeOps()(program)) == want
