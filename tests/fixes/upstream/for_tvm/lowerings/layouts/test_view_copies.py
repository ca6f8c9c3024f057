"""Kernels on views that begin inside of their tensor."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import relax as R


def test_kernel_on_a_view_with_an_offset():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        view = builder.emit(relax.op.memory.view(x, (2,), relative_byte_offset=8))
        builder.emit_func_output(builder.emit(relax.op.negative(view)))
    built = relax.build(builder.get(), "llvm")
    result = relax.VirtualMachine(built, tvm.cpu())["main"](
        tvm.runtime.tensor(np.arange(4, dtype="float32"))
    )
    np.testing.assert_array_equal(result.numpy(), [-2, -3])


if __name__ == "__main__":
    tvm.testing.main()
