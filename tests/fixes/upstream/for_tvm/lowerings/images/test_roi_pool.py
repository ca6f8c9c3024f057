"""Pooled regions that begin at negative halves."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_negative_halves():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 1, 3), "float32"), rois: R.Tensor((1, 5), "float32")):
            with R.dataflow():
                y = R.vision.roi_pool(x, rois, (1, 2), 0.5)
                R.output(y)
            return y

    executable = relax.build(Module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    image = np.array([[[[1, 2, 3]]]], "float32")
    # From -1 to 2: four columns, of which the image has three.
    box = np.array([[0, -1, 0, 4, 0]], "float32")
    result = vm["main"](tvm.runtime.tensor(image), tvm.runtime.tensor(box)).numpy()
    tvm.testing.assert_allclose(result, [[[[1, 3]]]])
