"""The batch product of dimensions that are equal, but not one object, and of no inner element."""

import pytest
import tvm.testing
from tvm import te, tirx, topi


def test_equal_products_of_symbols():
    batch, heads = tirx.Var("batch", "int64"), tirx.Var("heads", "int64")
    left = te.placeholder((batch * heads, 2, 3), "float32")
    right = te.placeholder((batch * heads, 4, 3), "float32")
    result = topi.nn.batch_matmul(left, right)
    assert result.shape[0].same_as(left.shape[0])


def test_symbol_is_bound():
    batch = tirx.Var("batch", "int64")
    left = te.placeholder((batch, 2, 3), "float32")
    assert topi.nn.batch_matmul(left, left).shape[0].same_as(batch)


def test_message_shows_the_dimensions():
    left, right = te.placeholder((2, 2, 3), "float32"), te.placeholder((3, 2, 3), "float32")
    with pytest.raises(AssertionError, match="2 and 3"):
        topi.nn.batch_matmul(left, right)


def test_sum_of_nothing_is_initialized():
    empty = te.placeholder((1, 2, 0), "float32")
    (axis,) = topi.nn.batch_matmul(empty, empty).op.reduce_axis
    assert int(axis.dom.extent) == 1


if __name__ == "__main__":
    tvm.testing.main()
