"""The gradient of where in operands that are broadcast."""

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


def test_broadcast_operands():
    @I.ir_module
    class Module:
        @R.function
        def main(
            c: R.Tensor((2, 3), "bool"),
            x: R.Tensor((3,), "float32"),
            z: R.Tensor((2, 1), "float32"),
        ):
            with R.dataflow():
                y = R.where(c, x, z)
                s = R.sum(y)
                R.output(s)
            return s

    c = np.array([[True, False, True], [True, False, False]])
    x, z = np.ones(3, "float32"), np.ones((2, 1), "float32")
    of_x, of_z = _gradients(Module, [1, 2], c, x, z)
    tvm.testing.assert_allclose(of_x, [2, 0, 1])
    tvm.testing.assert_allclose(of_z, [[1], [2]])


if __name__ == "__main__":
    tvm.testing.main()
