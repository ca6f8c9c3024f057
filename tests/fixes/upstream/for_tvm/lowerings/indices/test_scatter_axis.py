"""An axis that the data of scatter_elements do not have."""

import pytest
import tvm.testing
from tvm import relax
from tvm.script import relax as R


def test_scatter_along_foreign_axis():
    data = relax.Var("data", R.Tensor((3, 4), "float32"))
    indices = relax.Var("indices", R.Tensor((1, 1), "int64"))
    updates = relax.Var("updates", R.Tensor((1, 1), "float32"))
    with pytest.raises(ValueError, match="scatter_elements is invalid with axis=2"):
        relax.op.scatter_elements(data, indices, updates, axis=2)


if __name__ == "__main__":
    tvm.testing.main()
