"""Integers divided by 0, and the lowest one by -1: what NumPy gives."""

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


def test_division_by_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "int32"), y: R.Tensor(("n",), "int32")):
            with R.dataflow():
                a = R.divide(x, y)
                b = R.floor_divide(x, y)
                z = R.stack((a, b))
                R.output(z)
            return z

    x = np.array([7, -7, 5, 0], "int32")
    y = np.array([2, 2, 0, 0], "int32")
    np.testing.assert_array_equal(run(Module, x, y), [[3, -3, 0, 0], [3, -4, 0, 0]])


def test_remainders_by_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "int32"), y: R.Tensor(("n",), "int32")):
            with R.dataflow():
                a = R.mod(x, y)
                b = R.floor_mod(x, y)
                z = R.stack((a, b))
                R.output(z)
            return z

    x = np.array([7, -7, 5, 0], "int32")
    y = np.array([2, 2, 0, 0], "int32")
    np.testing.assert_array_equal(run(Module, x, y), [[1, -1, 0, 0], [1, 1, 0, 0]])


def test_lowest_by_minus_one():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "int64"), y: R.Tensor(("n",), "int64")):
            with R.dataflow():
                a = R.floor_divide(x, y)
                b = R.floor_mod(x, y)
                z = R.stack((a, b))
                R.output(z)
            return z

    lowest = -(2**63)
    x = np.array([lowest, lowest, 5], "int64")
    y = np.array([-1, 1, -1], "int64")
    np.testing.assert_array_equal(run(Module, x, y), [[lowest, lowest, -5], [0, 0, 0]])


if __name__ == "__main__":
    tvm.testing.main()
