"""Images sampled by grids: float16, reflection."""

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


def test_float16():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 1, 2), "float16"), grid: R.Tensor((1, 2, 1, 1), "float16")):
            with R.dataflow():
                y = R.image.grid_sample(x, grid, layout="NCHW")
                R.output(y)
            return y

    image = np.array([[[[1, 3]]]], "float16")
    result = run(Module, image, np.zeros((1, 2, 1, 1), "float16"))
    assert result.dtype == "float16"
    tvm.testing.assert_allclose(result, [[[[2]]]])


def test_reflection_in_one_element():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 1, 1), "float32"), grid: R.Tensor((1, 2, 1, 2), "float32")):
            with R.dataflow():
                y = R.image.grid_sample(
                    x, grid, layout="NCHW", padding_mode="reflection", align_corners=True
                )
                R.output(y)
            return y

    image = np.full((1, 1, 1, 1), 5, "float32")
    grid = np.array([[[[0, 3]], [[-2, 0]]]], "float32")
    tvm.testing.assert_allclose(run(Module, image, grid), [[[[5, 5]]]])


def test_coordinates_are_written_once():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 1, 4), "float32"), grid: R.Tensor((1, 2, 1, 1), "float32")):
            with R.dataflow():
                y = R.image.grid_sample(
                    x, grid, method="bicubic", layout="NCHW", padding_mode="reflection"
                )
                R.output(y)
            return y

    lowered = relax.transform.LegalizeOps()(Module)
    assert len(lowered.script()) < 60_000
