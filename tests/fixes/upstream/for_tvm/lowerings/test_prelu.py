"""Parametric ReLU of symbolic channels, and with an alpha that does not fit."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_symbolic_channels():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, "n"), "float32"), alpha: R.Tensor(("n",), "float32")):
            with R.dataflow():
                y = R.nn.prelu(x, alpha)
                R.output(y)
            return y

    executable = relax.build(Module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    x = np.random.default_rng(0).standard_normal((2, 3)).astype("float32")
    alpha = np.array([0.5, 2, -1], "float32")
    result = vm["main"](tvm.runtime.tensor(x), tvm.runtime.tensor(alpha)).numpy()
    tvm.testing.assert_allclose(result, np.where(x > 0, x, x * alpha))


def test_alpha_of_another_size():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 3), "float32"), alpha: R.Tensor((4,), "float32")):
            with R.dataflow():
                y = R.nn.prelu(x, alpha)
                R.output(y)
            return y

    with pytest.raises(ValueError, match=r"prelu is invalid with axis=1.* size"):
        relax.transform.LegalizeOps()(Module)


def test_alpha_of_a_wider_dtype():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 3), "float32"), alpha: R.Tensor((3,), "float64")):
            with R.dataflow():
                y = R.nn.prelu(x, alpha)
                R.output(y)
            return y

    with pytest.raises(ValueError, match=r"prelu is invalid with .*the dtype of data"):
        relax.transform.LegalizeOps()(Module)


if __name__ == "__main__":
    tvm.testing.main()
