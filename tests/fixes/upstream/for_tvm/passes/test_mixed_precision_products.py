"""ToMixedPrecision leaves products of integers and of float64 as they are."""

import pytest
import tvm
import tvm.testing
from tvm import relax
from tvm.script import relax as R


@pytest.mark.parametrize(("dtype", "out_dtype"), [("int8", "int32"), ("float64", "float64")])
@pytest.mark.parametrize("operator", [relax.op.nn.conv1d, relax.op.nn.conv1d_transpose])
def test_nothing_is_cast(operator, dtype, out_dtype):
    builder = relax.BlockBuilder()
    x = relax.Var("x", R.Tensor((1, 2, 5), dtype))
    w = relax.Var("w", R.Tensor((2, 2, 3), dtype))
    with builder.function("main", [x, w]):
        with builder.dataflow():
            output = builder.emit_output(operator(x, w, out_dtype=out_dtype))
        builder.emit_func_output(output)
    mod = builder.get()
    tvm.ir.assert_structural_equal(relax.transform.ToMixedPrecision()(mod), mod)


if __name__ == "__main__":
    tvm.testing.main()
