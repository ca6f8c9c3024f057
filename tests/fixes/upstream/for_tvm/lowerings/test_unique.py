"""Numbers of the elements of a matrix among its different ones: a vector."""

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
    return [result.numpy() for result in vm["main"](*map(tvm.runtime.tensor, arrays))]


@I.ir_module
class Ascending:
    @R.function
    def main(x: R.Tensor((2, 3), "int32")):
        with R.dataflow():
            y = R.unique(x, sorted=True, return_inverse=True)
            R.output(y)
        return y


@I.ir_module
class InOrder:
    @R.function
    def main(x: R.Tensor((2, 3), "int32")):
        with R.dataflow():
            y = R.unique(x, sorted=False, return_inverse=True)
            R.output(y)
        return y


@pytest.mark.parametrize(
    ("mod", "wanted", "numbers"),
    [
        (Ascending, [1, 2, 7], [2, 0, 2, 1, 0, 0]),
        (InOrder, [7, 1, 2], [0, 1, 0, 2, 1, 1]),
    ],
)
def test_inverse_indices_of_a_matrix(mod, wanted, numbers):
    values, inverse = run(mod, np.array([[7, 1, 7], [2, 1, 1]], "int32"))
    np.testing.assert_array_equal(values, wanted)
    np.testing.assert_array_equal(inverse, numbers)


if __name__ == "__main__":
    tvm.testing.main()
