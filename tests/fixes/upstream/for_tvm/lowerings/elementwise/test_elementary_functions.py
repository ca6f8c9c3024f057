"""Inverse circular and hyperbolic functions."""

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
                y = R.sinh(R.acos(x))
                R.output(y)
            return y

    x = np.array([-0.5, 0.25, 0.75], "float16")
    wanted = np.sinh(np.arccos(x.astype("float64")))
    np.testing.assert_allclose(_run(Module, x), wanted, rtol=5e-3)


def test_atanh_near_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float32")):
            with R.dataflow():
                y = R.atanh(x)
                R.output(y)
            return y

    x = np.array([1e-10, -1e-5, 0.5], "float32")
    np.testing.assert_allclose(_run(Module, x), np.arctanh(x.astype("float64")), rtol=1e-6)


def test_tanh_near_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float32")):
            with R.dataflow():
                y = R.tanh(x)
                R.output(y)
            return y

    x = np.array([1e-10, -1e-5, 0.5], "float32")
    np.testing.assert_allclose(_run(Module, x), np.tanh(x.astype("float64")), rtol=1e-6)


if __name__ == "__main__":
    tvm.testing.main()
