"""The gradient of a matmul of a dtype of its own."""

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


def test_out_dtype():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((1, 2), "float32"),
            z: R.Tensor((2, 1), "float32"),
        ):
            with R.dataflow():
                y = R.matmul(x, z, out_dtype="float64")
                s = R.sum(y)
                R.output(s)
            return s

    x = np.array([[1, 2]], "float32")
    of_x, of_z = _gradients(Module, [0, 1], x, 3 * x.T)
    assert of_x.dtype == of_z.dtype == "float32"
    tvm.testing.assert_allclose(of_x, 3 * x)
    tvm.testing.assert_allclose(of_z, x.T)


if __name__ == "__main__":
    tvm.testing.main()
