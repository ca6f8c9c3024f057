"""Convolution in every layout."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def run(mod, *arrays):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](
        *(tvm.runtime.tensor(np.ascontiguousarray(array)) for array in arrays)
    ).numpy()


def sample(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


@I.ir_module
class Canonical:
    @R.function
    def main(x: R.Tensor((2, 4, 5, 4), "float32"), w: R.Tensor((4, 2, 2, 3), "float32")):
        with R.dataflow():
            y = R.nn.conv2d(x, w, strides=[2, 1], padding=[1, 0], groups=2)
            R.output(y)
        return y


def test_width_before_height():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4, 4, 5), "float32"), w: R.Tensor((3, 2, 2, 4), "float32")):
            with R.dataflow():
                y = R.nn.conv2d(
                    x,
                    w,
                    strides=[2, 1],
                    padding=[1, 0],
                    groups=2,
                    data_layout="NCWH",
                    kernel_layout="WHIO",
                )
                R.output(y)
            return y

    x, w = sample(2, 4, 5, 4), sample(4, 2, 2, 3)
    result = run(Module, x.swapaxes(2, 3), w.transpose((3, 2, 1, 0)))
    expected = run(Canonical, x, w).swapaxes(2, 3)
    tvm.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_output_layout():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4, 5, 4), "float32"), w: R.Tensor((4, 2, 2, 3), "float32")):
            with R.dataflow():
                y = R.nn.conv2d(x, w, strides=[2, 1], padding=[1, 0], groups=2, out_layout="NHWC")
                R.output(y)
            return y

    x, w = sample(2, 4, 5, 4), sample(4, 2, 2, 3)
    expected = run(Canonical, x, w).transpose((0, 2, 3, 1))
    tvm.testing.assert_allclose(run(Module, x, w), expected, rtol=1e-5, atol=1e-5)


def test_packed_channels():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 2, 5, 4, 2), "float32"), w: R.Tensor((4, 2, 2, 3), "float32")):
            with R.dataflow():
                y = R.nn.conv2d(
                    x, w, strides=[2, 1], padding=[1, 0], groups=2, data_layout="NCHW2c"
                )
                R.output(y)
            return y

    x, w = sample(2, 4, 5, 4), sample(4, 2, 2, 3)
    expected = run(Canonical, x, w)
    result = run(Module, x.reshape(2, 2, 2, 5, 4).transpose((0, 1, 3, 4, 2)), w)
    result = result.transpose((0, 1, 4, 2, 3)).reshape(expected.shape)
    tvm.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    tvm.testing.main()
