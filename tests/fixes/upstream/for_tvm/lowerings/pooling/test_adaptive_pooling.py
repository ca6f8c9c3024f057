"""Adaptive pooling whose windows vary in length along one axis and not along another."""

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


def test_windows_of_two_kinds():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 3, 2), "float32")):
            with R.dataflow():
                y = R.nn.adaptive_avg_pool2d(x, (2, 1))
                R.output(y)
            return y

    array = np.arange(6, dtype="float32").reshape(1, 1, 3, 2)
    np.testing.assert_array_equal(run(Module, array), [[[[1.5], [3.5]]]])


def test_windows_of_symbolic_sizes():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, "m", "n", 2), "float32")):
            with R.dataflow():
                y = R.nn.adaptive_avg_pool2d(x, (1, 2), layout="NHWC")
                R.output(y)
            return y

    array = np.arange(12, dtype="float32").reshape(1, 2, 3, 2)
    np.testing.assert_array_equal(run(Module, array), [[[[4, 5], [6, 7]]]])
    array = np.arange(4, dtype="float32").reshape(1, 2, 1, 2)
    np.testing.assert_array_equal(run(Module, array), [[[[1, 2], [1, 2]]]])


def test_three_dimensions():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 2, 3, 2), "float32")):
            with R.dataflow():
                y = R.nn.adaptive_avg_pool3d(x, (1, 2, 2))
                R.output(y)
            return y

    array = np.arange(12, dtype="float32").reshape(1, 1, 2, 3, 2)
    np.testing.assert_array_equal(run(Module, array), [[[[[4, 5], [6, 7]]]]])


if __name__ == "__main__":
    tvm.testing.main()
