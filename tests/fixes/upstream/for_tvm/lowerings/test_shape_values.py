"""A reshape to the shape of another tensor."""

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


def test_reshape_to_the_shape_of_another():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")):
            with R.dataflow():
                shape = R.shape_of(x)
                y = R.reshape(R.flatten(x), shape)
                R.output(y)
            return y

    array = np.arange(12, dtype="float32").reshape(3, 4)
    np.testing.assert_array_equal(run(Module, array), array)


if __name__ == "__main__":
    tvm.testing.main()
