"""Views that begin before their tensor."""

import pytest
import tvm.testing
from tvm import relax
from tvm.script import relax as R


def test_view_before_its_tensor():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    with pytest.raises(ValueError, match="view is invalid with relative_byte_offset=-4"):
        relax.op.memory.view(x, (1,), relative_byte_offset=-4)


if __name__ == "__main__":
    tvm.testing.main()
