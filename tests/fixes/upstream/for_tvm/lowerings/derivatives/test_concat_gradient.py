"""The gradient of concat along a symbolic dimension, and of one tensor."""

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


def test_symbolic_sizes():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor(("n", 2), "float32"),
            z: R.Tensor((1, 2), "float32"),
        ):
            with R.dataflow():
                c = R.concat((x, z), axis=0)
                y = R.multiply(c, c)
                s = R.sum(y)
                R.output(s)
            return s

    x, z = np.array([[1, 2], [3, 4]], "float32"), np.array([[5, 6]], "float32")
    of_x, of_z = _gradients(Module, [0, 1], x, z)
    tvm.testing.assert_allclose(of_x, 2 * x)
    tvm.testing.assert_allclose(of_z, 2 * z)


def test_one_tensor():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((2,), "float32"),
        ):
            with R.dataflow():
                c = R.concat((x,), axis=0)
                y = R.multiply(c, c)
                s = R.sum(y)
                R.output(s)
            return s

    x = np.array([1, 2], "float32")
    (made,) = _gradients(Module, [0], x)
    tvm.testing.assert_allclose(made, 2 * x)


if __name__ == "__main__":
    tvm.testing.main()
