"""Softplus of large and of negative operands."""

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


def test_half_precision():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float16")):
            with R.dataflow():
                y = R.nn.softplus(x)
                R.output(y)
            return y

    x = np.array([0, 12, 15], "float16")
    wanted = np.logaddexp(x.astype("float64"), 0)
    np.testing.assert_allclose(_run(Module, x), wanted, rtol=2e-3)


def test_negative_operands():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float32")):
            with R.dataflow():
                y = R.nn.softplus(x)
                R.output(y)
            return y

    x = np.array([-1, -20, -80], "float32")
    wanted = np.logaddexp(x.astype("float64"), 0)
    np.testing.assert_allclose(_run(Module, x), wanted, rtol=1e-6)


if __name__ == "__main__":
    tvm.testing.main()
