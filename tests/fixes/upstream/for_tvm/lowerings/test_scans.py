"""Cumulated sums of rows of which some are empty, or have several symbolic dimensions."""

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


def test_rows_without_an_element():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, "m", "n"), "float32")):
            with R.dataflow():
                y = R.cumsum(x, axis=1)
                R.output(y)
            return y

    for shape in ((2, 3, 4), (2, 0, 1), (2, 3, 0)):
        array = np.ones(shape, "float32")
        np.testing.assert_array_equal(run(Module, array), array.cumsum(1))


if __name__ == "__main__":
    tvm.testing.main()
