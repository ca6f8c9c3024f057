"""Adaptive pooling over one axis to its own size."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_without_output_size():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 2, 3), "float32")):
            with R.dataflow():
                y = R.nn.adaptive_avg_pool1d(x)
                R.output(y)
            return y

    executable = relax.build(Module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    x = np.arange(6, dtype="float32").reshape(1, 2, 3)
    tvm.testing.assert_allclose(vm["main"](tvm.runtime.tensor(x)).numpy(), x)


if __name__ == "__main__":
    tvm.testing.main()
