"""Affine grids of symbolic size, and of float64."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


def run(mod, array):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](tvm.runtime.tensor(array)).numpy()


def test_symbolic_size():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 2, 3), "float32")):
            n = T.int64()
            with R.dataflow():
                y = R.image.affine_grid(x, R.shape([2, n]))
                R.output(y)
            return y

    matrices = np.zeros((3, 2, 3), "float32")
    matrices[:, 0, 0] = matrices[:, 1, 1] = 1
    grid = run(Module, matrices)
    tvm.testing.assert_allclose(grid[0, 0], [[-1, 0, 1]] * 2)
    tvm.testing.assert_allclose(grid[2, 1], [[-1] * 3, [1] * 3])


def test_corners_of_float64():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 2, 3), "float64")):
            with R.dataflow():
                y = R.image.affine_grid(x, (2, 2))
                R.output(y)
            return y

    matrices = np.array([[[1, 0, 0], [0, 1, 0]]], "float64")
    grid = run(Module, matrices)
    tvm.testing.assert_allclose(grid[0, 0], [[-1, 1]] * 2, rtol=1e-12, atol=1e-12)
