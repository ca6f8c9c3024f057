"""The batch product of operands that lie, without elements, in front of something."""

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, topi

from tests.fixes import compiled


@pytest.mark.parametrize("inner", [0, "K"])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_nothing_is_read(fixes_on: None, inner: Any, transpose_b: bool) -> None:
    def make(left: Any, right: Any) -> Any:
        builder = relax.BlockBuilder.current()
        return builder.emit_te(topi.nn.batch_matmul, left, right, transpose_b=transpose_b)

    right = (1, 1, inner) if transpose_b else (1, inner, 1)
    program = compiled.module(make, (1, 1, inner), right)
    run = relax.VirtualMachine(relax.build(program, compiled.TARGET), tvm.cpu())["main"]
    out = run(
        compiled.empty(1, 1, 0), compiled.empty(*((1, 1, 0) if transpose_b else (1, 0, 1)))
    ).numpy()
    assert out.item() == 0


@pytest.mark.parametrize("dtype", ["int8", "int16", "float16", "float64"])
@pytest.mark.parametrize("inner", [3, "K"])
def test_the_dtype_is_that_of_the_operands(fixes_on: None, dtype: str, inner: Any) -> None:
    def make(left: Any, right: Any) -> Any:
        return relax.BlockBuilder.current().emit_te(topi.nn.batch_matmul, left, right)

    shapes = (2, 3, inner), (2, 4, inner)
    arrays = [
        compiled.sample(compiled.size(shape, {"K": 3}), "int8", seed).astype(dtype)
        for seed, shape in enumerate(shapes)
    ]
    out = compiled.build(compiled.module(make, *shapes, dtypes=(dtype, dtype)))(*arrays)
    assert out.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(out, arrays[0] @ arrays[1].transpose(0, 2, 1))
