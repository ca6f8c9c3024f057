"""The logarithm of a sum of two exponentials."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def _run(module, *arrays):
    executable = relax.build(module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*map(tvm.runtime.tensor, arrays)).numpy()


def test_large_operands():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")):
            with R.dataflow():
                z = R.log_add_exp(x, y)
                R.output(z)
            return z

    x, y = (np.array(values, "float32") for values in ((200, -200, 1), (100, -201, 0)))
    np.testing.assert_allclose(_run(Module, x, y), np.logaddexp(x, y), rtol=1e-6)


if __name__ == "__main__":
    tvm.testing.main()
