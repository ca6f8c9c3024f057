"""Negation of unsigned integers."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_bytes():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "uint8")):
            with R.dataflow():
                y = R.negative(x)
                R.output(y)
            return y

    executable = relax.build(Module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    result = vm["main"](tvm.runtime.tensor(np.array([0, 1, 255], "uint8"))).numpy()
    np.testing.assert_array_equal(result, np.array([0, 255, 1], "uint8"))


if __name__ == "__main__":
    tvm.testing.main()
