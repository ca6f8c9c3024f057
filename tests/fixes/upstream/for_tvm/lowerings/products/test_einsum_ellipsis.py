"""Einsum sums along the axes of an ellipsis."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_summed_ellipsis():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, "n", 4), "float32"), y: R.Tensor(("n", 4), "float32")):
            with R.dataflow():
                z = R.einsum((x, y), subscripts="...i,...i->i")
                R.output(z)
            return z

    executable = relax.build(Module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    x, y = np.arange(24, dtype="float32").reshape(2, 3, 4), np.ones((3, 4), "float32")
    result = vm["main"](tvm.runtime.tensor(x), tvm.runtime.tensor(y)).numpy()
    tvm.testing.assert_allclose(result, (x * y).sum((0, 1)))


if __name__ == "__main__":
    tvm.testing.main()
