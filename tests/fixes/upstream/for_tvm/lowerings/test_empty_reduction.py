"""Reductions over empty axes write their identity."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def run(mod, *arrays):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def test_nothing_has_no_maximum():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32")):
            with R.dataflow():
                y = R.max(x, axis=[0])
                R.output(y)
            return y

    np.testing.assert_array_equal(run(Module, np.ones((2, 3), "float32")), np.ones(3))
    with pytest.raises(ValueError, match=r"relax\.max is invalid"):
        run(Module, np.zeros((0, 3), "float32"))


def test_the_mean_of_nothing_is_not_a_number():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 300), "float32")):
            with R.dataflow():
                y = R.mean(x, axis=[0])
                R.output(y)
            return y

    # Memory that a run before has left.
    np.testing.assert_allclose(run(Module, np.full((2, 300), 7, "float32")), 7)
    assert np.isnan(run(Module, np.zeros((0, 300), "float32"))).all()


def test_the_sum_that_undoes_a_broadcast_to_nothing_is_zero():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 300), "float32")):
            with R.dataflow():
                y = R.collapse_sum_to(x, R.shape([1, 300]))
                R.output(y)
            return y

    # Memory that a run before has left.
    np.testing.assert_allclose(run(Module, np.full((2, 300), 7, "float32")), 14)
    assert not run(Module, np.zeros((0, 300), "float32")).any()


def test_losses_of_nothing():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, "n"), "float32"), labels: R.Tensor((1, "n"), "float32")):
            with R.dataflow():
                y = R.nn.cross_entropy_with_logits(x, labels)
                R.output(y)
            return y

    ones, none = np.ones((1, 2), "float32"), np.ones((1, 0), "float32")
    # Memory that a run before has left.
    np.testing.assert_allclose(run(Module, ones, ones), -2)
    assert run(Module, none, none) == 0


if __name__ == "__main__":
    tvm.testing.main()
