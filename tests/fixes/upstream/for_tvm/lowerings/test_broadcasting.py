"""A symbolic dimension that is 1 at run time is broadcast."""

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


def test_broadcast_of_one_element():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, "n"), "float32")):
            with R.dataflow():
                y = R.broadcast_to(x, (3, 2, 64))
                R.output(y)
            return y

    column = np.array([[1], [2]], "float32")
    whole = np.arange(128, dtype="float32").reshape(2, 64)
    for array in (column, whole):
        want = np.broadcast_to(array, (3, 2, 64))
        np.testing.assert_array_equal(run(Module, array), want)


if __name__ == "__main__":
    tvm.testing.main()
