"""Dimensions that are expressions of symbols, or 0, do not make the pass fail."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


def run(mod, *arrays):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def test_reshape_over_expressions():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("m",), "float32"), y: R.Tensor((2, 4, "m - 1", 3), "float32")):
            m = T.int64()
            with R.dataflow():
                z = R.nn.relu(R.reshape(y, R.shape([2, 4, 3 * m - 3])))
                R.output(z)
            return z

    array = np.arange(48, dtype="float32").reshape(2, 4, 2, 3)
    result = run(Module, np.zeros(3, "float32"), array)
    np.testing.assert_array_equal(result, array.reshape(2, 4, 6))


def test_tensors_without_elements():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3, 0), "float32")):
            with R.dataflow():
                y = R.expand_dims(R.nn.relu(x), axis=[0])
                z = R.nn.relu(R.squeeze(R.nn.relu(y), axis=[0]))
                r = R.expand_dims(R.nn.relu(z), axis=[1])
                R.output(r)
            return r

    assert run(Module, np.zeros((3, 0), "float32")).shape == (3, 1, 0)


def test_repeat_over_expressions():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("m",), "float32"), y: R.Tensor((4, "2 * m + 1"), "float32")):
            with R.dataflow():
                z = R.nn.relu(R.repeat(y, 2, 1))
                R.output(z)
            return z

    array = np.arange(20, dtype="float32").reshape(4, 5)
    result = run(Module, np.zeros(2, "float32"), array)
    np.testing.assert_array_equal(result, array.repeat(2, 1))


def test_a_reshape_is_still_found():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 6), "float32")):
            with R.dataflow():
                y = R.nn.relu(R.reshape(x, (6,)))
                R.output(y)
            return y

    lowered = relax.transform.LegalizeOps()(Module)
    assert "R.reshape(" in str(relax.transform.RewriteDataflowReshape()(lowered))


if __name__ == "__main__":
    tvm.testing.main()
