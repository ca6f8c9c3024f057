"""The gradient of cumsum, of which no element, or each, is part of its own sum."""

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


def test_exclusive():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((4,), "float32"),
        ):
            with R.dataflow():
                y = R.cumsum(x, axis=0, exclusive=True)
                s = R.sum(y)
                R.output(s)
            return s

    (made,) = _gradients(Module, [0], np.ones(4, "float32"))
    tvm.testing.assert_allclose(made, [3, 2, 1, 0])


def test_inclusive():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((2, 2), "float32"),
        ):
            with R.dataflow():
                y = R.cumsum(x)
                s = R.sum(y)
                R.output(s)
            return s

    (made,) = _gradients(Module, [0], np.ones((2, 2), "float32"))
    tvm.testing.assert_allclose(made, [[4, 3], [2, 1]])


if __name__ == "__main__":
    tvm.testing.main()
