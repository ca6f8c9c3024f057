"""Volumes of symbolic size, and of float64."""

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


def test_aligned_corners():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 1, 1, "n"), "float32")):
            n = T.int64()
            with R.dataflow():
                y = R.image.resize3d(
                    x,
                    R.shape([1, 1, n * 2 - 1]),
                    layout="NCDHW",
                    coordinate_transformation_mode="align_corners",
                )
                R.output(y)
            return y

    array = np.array([[[[[0, 2, 8]]]]], "float32")
    tvm.testing.assert_allclose(run(Module, array), [[[[[0, 1, 2, 5, 8]]]]], rtol=1e-5)


def test_one_element_of_aligned_corners():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 2, 2, 2), "float32")):
            with R.dataflow():
                y = R.image.resize3d(
                    x,
                    R.shape([1, 1, 1]),
                    layout="NCDHW",
                    coordinate_transformation_mode="align_corners",
                )
                R.output(y)
            return y

    array = np.arange(1, 9, dtype="float32").reshape(1, 1, 2, 2, 2)
    tvm.testing.assert_allclose(run(Module, array), [[[[[1]]]]])


def test_float64():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 1, 1, 2), "float64")):
            with R.dataflow():
                y = R.image.resize3d(x, R.shape([1, 1, 4]), layout="NCDHW")
                R.output(y)
            return y

    array = np.array([[[[[1e100, 2e100]]]]])
    want = [[[[[1e100, 1.25e100, 1.75e100, 2e100]]]]]
    tvm.testing.assert_allclose(run(Module, array), want, rtol=1e-12)
