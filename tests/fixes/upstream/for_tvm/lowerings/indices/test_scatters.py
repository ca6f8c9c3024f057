"""Scatters, and reads and writes at places."""

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


def test_no_updates():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((2, 3), "float32"),
            i: R.Tensor((1, 0), "int64"),
            u: R.Tensor((1, 0), "float32"),
        ):
            with R.dataflow():
                y = R.scatter_elements(x, i, u, axis=0)
                R.output(y)
            return y

    x = np.arange(6, dtype="float32").reshape(2, 3)
    actual = _run(Module, x, np.zeros((1, 0), "int64"), np.zeros((1, 0), "float32"))
    tvm.testing.assert_allclose(actual, x)


def test_fewer_indices():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((2, 2, 1), "float32"),
            i: R.Tensor((2, 1, 1), "int64"),
            u: R.Tensor((2, 1, 1), "float32"),
        ):
            with R.dataflow():
                y = R.scatter_elements(x, i, u, axis=2)
                R.output(y)
            return y

    ones = np.ones((2, 1, 1), "float32")
    actual = _run(Module, np.zeros((2, 2, 1), "float32"), np.zeros((2, 1, 1), "int64"), ones)
    tvm.testing.assert_allclose(actual, [[[1], [0]], [[1], [0]]])


def test_symbolic_places():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((2, 2), "float32"),
            i: R.Tensor(("n",), "int64"),
            j: R.Tensor(("n",), "int64"),
            u: R.Tensor(("n",), "float32"),
        ):
            with R.dataflow():
                y = R.index_put(x, (i, j), u)
                R.output(y)
            return y

    places = np.array([0, 1])
    actual = _run(Module, np.zeros((2, 2), "float32"), places, places, np.ones(2, "float32"))
    tvm.testing.assert_allclose(actual, np.eye(2))


def test_negative_indices():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float32"), i: R.Tensor((2,), "int64")):
            with R.dataflow():
                y = R.index_tensor(x, (i,))
                R.output(y)
            return y

    actual = _run(Module, np.array([3, 4, 5], "float32"), np.array([-1, 1]))
    tvm.testing.assert_allclose(actual, [5, 4])


if __name__ == "__main__":
    tvm.testing.main()
