"""The gradient of triu."""

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


def test_triangle():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((2, 3), "float32"),
        ):
            with R.dataflow():
                y = R.triu(x, 1)
                s = R.sum(y)
                R.output(s)
            return s

    (made,) = _gradients(Module, [0], np.ones((2, 3), "float32"))
    tvm.testing.assert_allclose(made, [[0, 1, 1], [0, 0, 1]])


if __name__ == "__main__":
    tvm.testing.main()
