"""The permutation of a tensor without elements has the shape that it says."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def run(mod, *arrays):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def sample(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def test_permutation_moves_the_empty_dimension():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 0, 3), "float32")):
            with R.dataflow():
                y = R.nn.relu(R.permute_dims(R.nn.relu(x), [1, 0, 2]))
                R.output(y)
            return y

    assert run(Module, sample(2, 0, 3)).shape == (0, 2, 3)


if __name__ == "__main__":
    tvm.testing.main()
