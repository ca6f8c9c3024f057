"""Reshapes to the shape of another tensor, and to sizes in one."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


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


def test_reshape_to_sizes_in_a_tensor():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32"), sizes: R.Tensor((2,), "int64")):
            k, m = T.int64(), T.int64()
            shape = R.tensor_to_shape(sizes)
            with R.dataflow():
                z = R.reshape(x, shape)
                w = R.match_cast(z, R.Tensor((k, m), "float32"))
                y = R.exp(w)
                R.output(y)
            return y

    array = np.arange(12, dtype="float32").reshape(3, 4)
    lowered = relax.transform.LegalizeOps()(Module)
    assert "R.reshape" not in lowered.script()
    for sizes in ((2, 6), (12, 1)):
        result = run(lowered, array, np.array(sizes, "int64"))
        np.testing.assert_allclose(result, np.exp(array.reshape(sizes)), rtol=1e-5)


if __name__ == "__main__":
    tvm.testing.main()
