"""Padding of a tensor that has no element."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def run(mod, *arrays):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def test_circular():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((0, 3), "float32")):
            with R.dataflow():
                y = R.nn.pad(x, (0, 0, 1, 2), pad_mode="circular")
                R.output(y)
            return y

    assert run(Module, np.zeros((0, 3), "float32")).shape == (0, 6)


if __name__ == "__main__":
    tvm.testing.main()
