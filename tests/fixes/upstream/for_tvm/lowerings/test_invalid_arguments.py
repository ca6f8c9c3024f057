"""Arguments that no operator has a meaning for."""

import pytest
import tvm.testing
from tvm import relax
from tvm.script import relax as R


def test_pool_without_elements():
    x = relax.Var("x", R.Tensor((1, 1, 3, 3), "float32"))
    with pytest.raises(ValueError, match="max_pool2d is invalid with pool_size=0"):
        relax.op.nn.max_pool2d(x, pool_size=0)


def test_unknown_mode_of_a_pad():
    x = relax.Var("x", R.Tensor((3,), "float32"))
    with pytest.raises(ValueError, match="pad is invalid with pad_mode='sideways'"):
        relax.op.nn.pad(x, (1, 1), pad_mode="sideways")


if __name__ == "__main__":
    tvm.testing.main()
