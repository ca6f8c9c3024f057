"""The gradient of conv2d with dilation, and over a symbolic dimension."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def _gradients(module, inputs, *arrays):
    parameters = [module["main"].params[at] for at in inputs]
    module = relax.transform.Gradient("main", parameters)(module)
    vm = relax.VirtualMachine(relax.build(module, tvm.target.Target("llvm")), tvm.cpu())
    _, made = vm["main_adjoint"](*map(tvm.runtime.tensor, arrays))
    return [each.numpy() for each in made]


def test_strides():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((1, 1, 4, 2), "float32"),
            w: R.Tensor((1, 1, 1, 1), "float32"),
        ):
            with R.dataflow():
                y = R.nn.conv2d(x, w, strides=[2, 1])
                s = R.sum(y)
                R.output(s)
            return s

    x, w = np.ones((1, 1, 4, 2), "float32"), np.full((1, 1, 1, 1), 3, "float32")
    of_x, of_w = _gradients(Module, [0, 1], x, w)
    tvm.testing.assert_allclose(of_x.reshape(4, 2), [[3, 3], [0, 0], [3, 3], [0, 0]])
    tvm.testing.assert_allclose(of_w, np.full((1, 1, 1, 1), 4))


def test_a_symbolic_size():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((1, 1, "n", 1), "float32"),
            w: R.Tensor((1, 1, 1, 1), "float32"),
        ):
            with R.dataflow():
                y = R.nn.conv2d(x, w, strides=[2, 1])
                s = R.sum(y)
                R.output(s)
            return s

    x, w = np.ones((1, 1, 4, 1), "float32"), np.full((1, 1, 1, 1), 3, "float32")
    of_x, of_w = _gradients(Module, [0, 1], x, w)
    tvm.testing.assert_allclose(of_x.ravel(), [3, 0, 3, 0])
    tvm.testing.assert_allclose(of_w, np.full((1, 1, 1, 1), 2))


def test_dilation_gives_the_shape_of_the_data():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 3, 1), "float32"), w: R.Tensor((1, 1, 2, 1), "float32")):
            with R.dataflow():
                y = R.nn.conv2d(x, w, strides=[2, 1], dilation=[2, 1])
                s = R.sum(y)
                R.output(s)
            return s

    adjoint = relax.transform.Gradient("main")(Module)["main_adjoint"]
    assert "adjoint_out: R.Tensor((1, 1, 3, 1)" in str(adjoint)


if __name__ == "__main__":
    tvm.testing.main()
