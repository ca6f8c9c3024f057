"""The gradient of take along any axis, by indices of any rank."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def _run(module, *arrays):
    executable = relax.build(module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*map(tvm.runtime.tensor, arrays)).numpy()


def test_negative_axes():
    @I.ir_module
    class Module:
        @R.function
        def main(
            g: R.Tensor((2, 2), "float32"),
            x: R.Tensor((2, 3), "float32"),
            i: R.Tensor((2,), "int64"),
        ):
            with R.dataflow():
                y = R.grad.take_backward(g, x, i, axis=-1)
                R.output(y)
            return y

    g = np.array([[1, 2], [3, 4]], "float32")
    actual = _run(Module, g, np.zeros((2, 3), "float32"), np.array([2, 2]))
    tvm.testing.assert_allclose(actual, [[0, 0, 3], [0, 0, 7]])


def test_indices_of_two_dimensions():
    @I.ir_module
    class Module:
        @R.function
        def main(
            g: R.Tensor((2, 2), "float32"),
            x: R.Tensor((3,), "float32"),
            i: R.Tensor((2, 2), "int64"),
        ):
            with R.dataflow():
                y = R.grad.take_backward(g, x, i, axis=0)
                R.output(y)
            return y

    g = np.array([[1, 2], [3, 4]], "float32")
    actual = _run(Module, g, np.zeros(3, "float32"), np.array([[0, 2], [2, 2]]))
    tvm.testing.assert_allclose(actual, [1, 0, 9])


def test_gradients_of_nothing():
    @I.ir_module
    class Module:
        @R.function
        def main(
            g: R.Tensor((1, 0), "float32"),
            x: R.Tensor((2, 0), "float32"),
            i: R.Tensor((1,), "int64"),
        ):
            with R.dataflow():
                y = R.grad.take_backward(g, x, i, axis=0)
                R.output(y)
            return y

    empty = np.zeros((2, 0), "float32")
    assert _run(Module, empty[:1], empty, np.array([1])).shape == (2, 0)


def test_operands_of_a_gradient():
    @I.ir_module
    class Module:
        @R.function
        def main(
            g: R.Tensor((3, 2), "float32"),
            x: R.Tensor((2, 3), "float32"),
            i: R.Tensor((2,), "int64"),
        ):
            with R.dataflow():
                y = R.grad.take_backward(g, x, i, axis=1)
                R.output(y)
            return y

    with pytest.raises(ValueError, match=r"take_backward is invalid with output_grad='\(3, 2\)'"):
        relax.transform.LegalizeOps()(Module)


if __name__ == "__main__":
    tvm.testing.main()
