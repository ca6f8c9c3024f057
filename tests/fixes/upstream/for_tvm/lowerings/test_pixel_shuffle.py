"""Pixel shuffle is lowered, and refuses channels that type inference cannot read."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_pixel_shuffle():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 8, "h", 2), "float32")):
            with R.dataflow():
                y = R.nn.pixel_shuffle(x, upscale_factor=2)
                R.output(y)
            return y

    executable = relax.build(Module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    x = np.arange(3 * 8 * 4 * 2, dtype="float32").reshape(3, 8, 4, 2)
    result = vm["main"](tvm.runtime.tensor(x)).numpy()
    split = x.reshape(3, 2, 2, 2, 4, 2)
    expected = split.transpose(0, 1, 4, 2, 5, 3).reshape(3, 2, 8, 4)
    tvm.testing.assert_allclose(result, expected)


def test_symbolic_channels():
    channels = tvm.tirx.Var("c", "int64")
    x = relax.Var("x", R.Tensor((channels, 1, 1), "float32"))
    with pytest.raises(Exception, match=r"pixel_shuffle cannot be lowered with .*channels='c'"):
        relax.BlockBuilder().normalize(relax.op.nn.pixel_shuffle(x, 1))
