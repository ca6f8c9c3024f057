"""The batch product over no inner element, and what it says of tensors that do not fit."""

import re
from typing import Any

import numpy as np
import pytest
from tvm import relax, te, topi

from fixes import tvm_api
from tests.fixes import compiled


def product(*shapes: Any, dtype: str = "float32", **kw: Any) -> Any:
    def make(left: Any, right: Any) -> Any:
        builder = relax.BlockBuilder.current()
        return builder.emit_te(topi.nn.batch_matmul, left, right, **kw)

    return compiled.build(compiled.module(make, *shapes, dtypes=(dtype, dtype)))


def test_symbols_of_every_dimension(fixes_on: None) -> None:
    function = product(("B", "M", "K"), ("B", "N", "K"), dtype="float64")
    for b, m, n, k in ((1, 1, 1, 1), (2, 3, 4, 5), (3, 2, 1, 7), (2, 2, 2, 0)):
        left, right = compiled.sample((b, m, k), "float64"), compiled.sample((b, n, k), "float64")
        want = left @ right.transpose(0, 2, 1)
        np.testing.assert_allclose(function(left, right), want, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ((2, 3, 4), (3, 3, 4), "batch dimensions 2 and 3 don't match"),
        (("B", 3, 4), (2, 3, 4), "batch dimensions B and 2 don't match"),
        ((2, 3, 4), (2, 3, 5), "inner dimensions 4 and 5 don't match"),
        ((2, 3, "K"), (2, 3, 5), "inner dimensions K and 5 don't match"),
        ((3, 4), (2, 3, 4), "the shape (3, 4) is not of rank 3"),
        ((2, 3, 4), (2, 3, "B", 1), "the shape (2, 3, B, 1) is not of rank 3"),
    ],
)
def test_messages(fixes_on: None, left: Any, right: Any, said: str) -> None:
    tensors = [
        te.placeholder([tvm_api.shape_var(dim) if isinstance(dim, str) else dim for dim in shape])
        for shape in (left, right)
    ]
    with pytest.raises(AssertionError, match=f"^batch_matmul: {re.escape(said)}$"):
        topi.nn.batch_matmul(*tensors)
