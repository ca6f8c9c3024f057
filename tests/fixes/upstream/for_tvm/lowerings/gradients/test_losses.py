"""The gradient of nll_loss where targets are ignored; a cross entropy over no rows."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def _run(module, *arrays):
    executable = relax.build(module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*map(tvm.runtime.tensor, arrays)).numpy()


def test_ignored_targets():
    @I.ir_module
    class Module:
        @R.function
        def main(
            g: R.Tensor((), "float32"),
            x: R.Tensor((3, 2), "float32"),
            t: R.Tensor((3,), "int64"),
            w: R.Tensor((2,), "float32"),
        ):
            with R.dataflow():
                y = R.grad.nll_loss_backward(g, x, t, w)
                R.output(y)
            return y

    assert "if_then_else" in str(relax.transform.LegalizeOps()(Module))
    g, w = np.array(8, "float32"), np.array([1, 3], "float32")
    actual = _run(Module, g, np.zeros((3, 2), "float32"), np.array([0, -100, 1]), w)
    tvm.testing.assert_allclose(actual, [[-2, 0], [0, 0], [0, -6]])


def test_operands_of_a_loss():
    @I.ir_module
    class Module:
        @R.function
        def main(
            g: R.Tensor((), "float32"),
            x: R.Tensor((3, 2), "float32"),
            t: R.Tensor((4,), "int64"),
        ):
            with R.dataflow():
                y = R.grad.nll_loss_backward(g, x, t)
                R.output(y)
            return y

    with pytest.raises(ValueError, match=r"nll_loss_backward is invalid with targets='\(4\)'"):
        relax.transform.LegalizeOps()(Module)


def test_no_rows():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((0, 2), "float32"), labels: R.Tensor((0, 2), "float32")):
            with R.dataflow():
                y = R.nn.cross_entropy_with_logits(x, labels)
                R.output(y)
            return y

    empty = np.zeros((0, 2), "float32")
    assert np.isnan(_run(Module, empty, empty))


if __name__ == "__main__":
    tvm.testing.main()
