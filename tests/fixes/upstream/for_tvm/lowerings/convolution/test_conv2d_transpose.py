"""Transposed convolution over 2 spatial axes in every layout and with every dilation."""

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


def sample(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


@I.ir_module
class Canonical:
    @R.function
    def main(x: R.Tensor((2, 4, 4, 3), "float32"), w: R.Tensor((4, 3, 3, 2), "float32")):
        with R.dataflow():
            y = R.nn.conv2d_transpose(x, w, strides=[2, 2], padding=[1, 1], groups=2)
            R.output(y)
        return y


def test_channels_last():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4, 3, 4), "float32"), w: R.Tensor((3, 4, 3, 2), "float32")):
            with R.dataflow():
                y = R.nn.conv2d_transpose(
                    x,
                    w,
                    strides=[2, 2],
                    padding=[1, 1],
                    groups=2,
                    data_layout="NHWC",
                    kernel_layout="OIHW",
                )
                R.output(y)
            return y

    x, w = sample(2, 4, 4, 3), sample(4, 3, 3, 2)
    result = run(
        Module,
        np.ascontiguousarray(x.transpose((0, 2, 3, 1))),
        np.ascontiguousarray(w.swapaxes(0, 1)),
    )
    expected = run(Canonical, x, w).transpose((0, 2, 3, 1))
    tvm.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_output_layout():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4, 4, 3), "float32"), w: R.Tensor((4, 3, 3, 2), "float32")):
            with R.dataflow():
                y = R.nn.conv2d_transpose(
                    x, w, strides=[2, 2], padding=[1, 1], groups=2, out_layout="NHWC"
                )
                R.output(y)
            return y

    x, w = sample(2, 4, 4, 3), sample(4, 3, 3, 2)
    expected = run(Canonical, x, w).transpose((0, 2, 3, 1))
    tvm.testing.assert_allclose(run(Module, x, w), expected, rtol=1e-5, atol=1e-5)


def test_dilation_is_that_of_a_kernel_with_zeros_between():
    @I.ir_module
    class Dilated:
        @R.function
        def main(x: R.Tensor((2, 4, 4, 3), "float32"), w: R.Tensor((4, 3, 3, 2), "float32")):
            with R.dataflow():
                y = R.nn.conv2d_transpose(x, w, dilation=[2, 2])
                R.output(y)
            return y

    @I.ir_module
    class Spread:
        @R.function
        def main(x: R.Tensor((2, 4, 4, 3), "float32"), w: R.Tensor((4, 3, 5, 3), "float32")):
            with R.dataflow():
                y = R.nn.conv2d_transpose(x, w)
                R.output(y)
            return y

    x, w = sample(2, 4, 4, 3), sample(4, 3, 3, 2)
    spread = np.zeros((4, 3, 5, 3), "float32")
    spread[:, :, ::2, ::2] = w
    expected = run(Spread, x, spread)
    tvm.testing.assert_allclose(run(Dilated, x, w), expected, rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    tvm.testing.main()
