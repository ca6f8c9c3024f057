"""Tensors filled with infinities and NaN."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_infinities():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float32")):
            with R.dataflow():
                y = R.full_like(x, R.const(float("inf"), "float32"))
                R.output(y)
            return y

    executable = relax.build(Module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    result = vm["main"](tvm.runtime.tensor(np.zeros(3, "float32"))).numpy()
    np.testing.assert_array_equal(result, np.full(3, np.inf, "float32"))


if __name__ == "__main__":
    tvm.testing.main()
