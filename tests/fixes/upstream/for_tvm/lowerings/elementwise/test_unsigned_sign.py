"""The sign of unsigned integers."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def _run(module, *arrays):
    executable = relax.build(module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*map(tvm.runtime.tensor, arrays)).numpy()


def test_bytes():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "uint8")):
            with R.dataflow():
                y = R.sign(x)
                R.output(y)
            return y

    actual = _run(Module, np.array([0, 1, 255], "uint8"))
    np.testing.assert_array_equal(actual, np.array([0, 1, 1], "uint8"))


if __name__ == "__main__":
    tvm.testing.main()
