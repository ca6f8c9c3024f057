"""A static dimension 0 does not make a lowering fail."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def run(mod, *arrays):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    result = vm["main"](*(tvm.runtime.tensor(array) for array in arrays))
    return [result.numpy()] if hasattr(result, "numpy") else [part.numpy() for part in result]


def test_the_mean_of_nothing():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((0, 3), "float32")):
            with R.dataflow():
                y = R.mean(x, axis=[0], keepdims=True)
                z = R.variance(x, axis=[0])
                w = R.std(x)
                v = R.mean(x, axis=[1])
                R.output(y, z, w, v)
            return (y, z, w, v)

    result = run(Module, np.zeros((0, 3), "float32"))
    assert [array.shape for array in result] == [(1, 3), (3,), (), (0,)]
    assert all(np.isnan(array).all() for array in result)


def test_a_split_of_nothing():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((0, 3), "float32")):
            with R.dataflow():
                y = R.split(x, 2, axis=0)
                R.output(y)
            return y

    result = run(Module, np.zeros((0, 3), "float32"))
    assert [array.shape for array in result] == [(0, 3), (0, 3)]


def test_no_indices():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 3), "float32"), at: R.Tensor((2, 0), "int64")):
            with R.dataflow():
                y = R.gather_elements(x, at, axis=1)
                R.output(y)
            return y

    result = run(Module, np.zeros((2, 3), "float32"), np.zeros((2, 0), "int64"))
    assert result[0].shape == (2, 0)


def test_nothing_around_nothing():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 0), "float32")):
            with R.dataflow():
                y = R.nn.pad(x, (0, 0, 0, 0), "circular")
                R.output(y)
            return y

    assert run(Module, np.zeros((2, 0), "float32"))[0].shape == (2, 0)


def test_something_around_nothing():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 0), "float32")):
            with R.dataflow():
                y = R.nn.pad(x, (0, 0, 1, 1), "constant", 3.0)
                R.output(y)
            return y

    result = run(Module, np.zeros((2, 0), "float32"))
    np.testing.assert_array_equal(result[0], np.full((2, 2), 3, "float32"))


if __name__ == "__main__":
    tvm.testing.main()
