"""Gradients of pooling: of the windows that there are, of any number, and of dilated windows."""

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


def test_windows_beyond_the_last():
    @I.ir_module
    class Module:
        @R.function
        def main(g: R.Tensor((1, 1, 2, 1), "float32"), x: R.Tensor((1, 1, 3, 1), "float32")):
            with R.dataflow():
                y = R.grad.max_pool2d_backward(g, x, pool_size=(2, 3), padding=(0, 1, 0, 1))
                R.output(y)
            return y

    g, x = (np.array(each, "float32").reshape(1, 1, -1, 1) for each in ((3, 5), (0, 1, 0)))
    tvm.testing.assert_allclose(_run(Module, g, x), 8 * x)


def test_lowest_numbers():
    @I.ir_module
    class Module:
        @R.function
        def main(g: R.Tensor((1, 1, 1, 1), "float32"), x: R.Tensor((1, 1, 1, 1), "float32")):
            with R.dataflow():
                y = R.grad.max_pool2d_backward(g, x)
                R.output(y)
            return y

    g = np.full((1, 1, 1, 1), 3, "float32")
    tvm.testing.assert_allclose(_run(Module, g, np.full_like(g, np.finfo("float32").min)), g)


def test_dilated_gradients():
    @I.ir_module
    class Module:
        @R.function
        def main(g: R.Tensor((1, 1, 1, 2), "float32"), x: R.Tensor((1, 1, 1, 4), "float32")):
            with R.dataflow():
                y = R.grad.max_pool2d_backward(g, x, pool_size=(1, 2), dilation=(1, 2))
                R.output(y)
            return y

    g, x = (np.array(each, "float32").reshape(1, 1, 1, -1) for each in ((3, 5), (1, 2, 4, 0)))
    tvm.testing.assert_allclose(_run(Module, g, x).ravel(), [0, 5, 3, 0])


def test_operands_of_pooling():
    @I.ir_module
    class Module:
        @R.function
        def main(g: R.Tensor((1, 1, 3, 2), "float32"), x: R.Tensor((1, 1, 3, 3), "float32")):
            with R.dataflow():
                y = R.grad.avg_pool2d_backward(g, x)
                R.output(y)
            return y

    with pytest.raises(ValueError, match=r"avg_pool2d_backward is invalid with output_grad="):
        relax.transform.LegalizeOps()(Module)


if __name__ == "__main__":
    tvm.testing.main()
