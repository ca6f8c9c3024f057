"""Gradients that divide by the size of a symbolic dimension, or of an empty one."""

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


def test_mean():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor(("n", 2), "float32"),
        ):
            with R.dataflow():
                y = R.mean(x, axis=0)
                s = R.sum(y)
                R.output(s)
            return s

    (made,) = _gradients(Module, [0], np.ones((4, 2), "float32"))
    tvm.testing.assert_allclose(made, np.full((4, 2), 0.25))


def test_variance():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor(("n",), "float32"),
        ):
            with R.dataflow():
                y = R.variance(x, axis=0)
                s = R.sum(y)
                R.output(s)
            return s

    (made,) = _gradients(Module, [0], np.array([1, 3], "float32"))
    tvm.testing.assert_allclose(made, [-1, 1])


def test_variance_of_nothing():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((0, 2), "float32"),
        ):
            with R.dataflow():
                y = R.variance(x, axis=0)
                s = R.sum(y)
                R.output(s)
            return s

    adjoint = relax.transform.Gradient("main")(Module)["main_adjoint"]
    assert "adjoint_out: R.Tensor((0, 2)" in str(adjoint)


def test_cross_entropy():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor(("n", 2), "float32"),
            z: R.Tensor(("n", 2), "float32"),
        ):
            with R.dataflow():
                y = R.nn.cross_entropy_with_logits(x, z)
                s = R.sum(y)
                R.output(s)
            return s

    x = np.array([[1, 2], [3, 4]], "float32")
    of_x, of_z = _gradients(Module, [0, 1], x, 2 * x)
    tvm.testing.assert_allclose(of_x, -x)
    tvm.testing.assert_allclose(of_z, -x / 2)


if __name__ == "__main__":
    tvm.testing.main()
