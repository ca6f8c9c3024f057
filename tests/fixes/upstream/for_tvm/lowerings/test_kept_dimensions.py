"""Reshapes that keep a symbolic dimension before others that are expressions."""

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


def test_split_behind_a_symbolic_dimension():
    @I.ir_module
    class Module:
        @R.function
        def main(y: R.Tensor(("m",), "float32"), x: R.Tensor(("b", 2, "m - 1"), "float32")):
            b = T.int64()
            m = T.int64()
            with R.dataflow():
                z = R.reshape(R.exp(x), R.shape([b, 2, 3, (m - 1) // 3]))
                R.output(z)
            return z

    x = np.random.rand(4, 2, 6).astype("float32")
    result = run(Module, np.zeros(7, "float32"), x)
    np.testing.assert_allclose(result, np.exp(x).reshape(4, 2, 3, 2), rtol=1e-6)


def test_merge_behind_a_symbolic_dimension():
    @I.ir_module
    class Module:
        @R.function
        def main(
            y: R.Tensor(("m",), "float32"), x: R.Tensor(("b", "m - 1", 2, "m + 1"), "float32")
        ):
            b = T.int64()
            m = T.int64()
            with R.dataflow():
                z = R.reshape(R.exp(x), R.shape([b, (m - 1) * 2, m + 1]))
                R.output(z)
            return z

    x = np.random.rand(3, 4, 2, 6).astype("float32")
    result = run(Module, np.zeros(5, "float32"), x)
    np.testing.assert_allclose(result, np.exp(x).reshape(3, 8, 6), rtol=1e-6)


if __name__ == "__main__":
    tvm.testing.main()
