"""Slices to bounds that are symbolic."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


def run(mod, *arrays):
    target = tvm.target.Target("llvm")
    pipeline = relax.get_default_pipeline(target)
    executable = relax.build(mod, target, relax_pipeline=pipeline)
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def test_fused():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("2 * m",), "float32"), y: R.Tensor(("m",), "float32")):
            m = T.int64()
            with R.dataflow():
                z = R.strided_slice(x, axes=[0], begin=[1], end=[2 * m], strides=[2])
                z = R.abs(R.negative(R.abs(z)))
                R.output(z)
            return z

    array = np.arange(-3, 3, dtype="float32")
    np.testing.assert_array_equal(run(Module, array, array[:3]), np.abs(array[1::2]))


def test_bounds_counted_from_the_end():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("m",), "float32"), y: R.Tensor(("n",), "float32")):
            m, n = T.int64(), T.int64()
            with R.dataflow():
                z = R.strided_slice(x, axes=[0], begin=[n - 2], end=[m - 4])
                R.output(z)
            return z

    for m in (0, 2, 3, 5, 9):
        for n in (0, 1, 2, 4):
            array = np.arange(m, dtype="float32")
            result = run(Module, array, np.zeros(n, "float32"))
            np.testing.assert_array_equal(result, array[n - 2 : m - 4])


if __name__ == "__main__":
    tvm.testing.main()
