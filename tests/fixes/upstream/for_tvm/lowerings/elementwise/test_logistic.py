"""Sigmoid and silu of float16."""

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


LOW = np.array([-12, -11.5, -3], "float16")


def test_sigmoid():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float16")):
            with R.dataflow():
                y = R.sigmoid(x)
                R.output(y)
            return y

    wanted = 1 / (1 + np.exp(-LOW.astype("float64")))
    np.testing.assert_allclose(_run(Module, LOW), wanted, rtol=2e-3, atol=6e-8)


def test_silu():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float16")):
            with R.dataflow():
                y = R.nn.silu(x)
                R.output(y)
            return y

    wide = LOW.astype("float64")
    wanted = wide / (1 + np.exp(-wide))
    np.testing.assert_allclose(_run(Module, LOW), wanted, rtol=2e-3, atol=6e-8)


if __name__ == "__main__":
    tvm.testing.main()
