"""Aligned regions of float16."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_float16():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 2, 2), "float16"), rois: R.Tensor((1, 5), "float16")):
            with R.dataflow():
                y = R.vision.roi_align(x, rois, (1, 1), 1.0)
                R.output(y)
            return y

    executable = relax.build(Module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    image = np.array([[[[1, 2], [3, 6]]]], "float16")
    box = np.array([[0, 0, 0, 1, 1]], "float16")
    result = vm["main"](tvm.runtime.tensor(image), tvm.runtime.tensor(box)).numpy()
    assert result.dtype == "float16"
    tvm.testing.assert_allclose(result, [[[[3]]]])
