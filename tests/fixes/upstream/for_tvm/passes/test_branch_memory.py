"""The branches of a conditional share no storage."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@pytest.mark.parametrize("taken", [True, False])
def test_each_branch_has_its_storage(taken):
    branches_have_storage(taken)


def test_the_second_branch_has_its_storage():
    branches_have_storage(False)


def branches_have_storage(taken):
    @I.ir_module
    class Module:
        @R.function
        def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
            if c:
                a = R.exp(x)
                b = R.negative(a)
                y = R.exp(b)
            else:
                d = R.negative(x)
                e = R.exp(d)
                y = R.negative(e)
            return y

    x = np.array([1, 2, 3, 4], "float32")
    vm = relax.VirtualMachine(relax.build(Module, tvm.target.Target("llvm")), tvm.cpu())
    result = vm["main"](tvm.runtime.tensor(np.array(taken)), tvm.runtime.tensor(x)).numpy()
    wanted = np.exp(-np.exp(x)) if taken else -np.exp(-x)
    np.testing.assert_allclose(result, wanted, rtol=1e-5)


if __name__ == "__main__":
    tvm.testing.main()
