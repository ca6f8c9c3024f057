"""ConvertLayout leaves a convolution alone whose layout is packed."""

import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 1, 3, 2), "float32"), w: R.Tensor((2, 2, 2), "float32")):
        with R.dataflow():
            y = R.nn.conv1d_transpose(x, w, data_layout="NCW2c")
            R.output(y)
        return y


def test_packed_data():
    desired = {"relax.nn.conv1d_transpose": ["NWC", "IOW"]}
    result = relax.transform.ConvertLayout(desired)(Module)
    tvm.ir.assert_structural_equal(result, Module)


@I.ir_module
class Forward:
    @R.function
    def main(x: R.Tensor((1, 1, 3, 3, 2), "float32"), w: R.Tensor((2, 2, 2, 2), "float32")):
        with R.dataflow():
            y = R.nn.conv2d(x, w, data_layout="NCHW2c")
            R.output(y)
        return y


def test_packed_data_of_a_convolution():
    desired = {"relax.nn.conv2d": ["NHWC", "HWIO"]}
    converted = relax.transform.ConvertLayout(desired)(Forward)
    tvm.ir.assert_structural_equal(converted, Forward)


if __name__ == "__main__":
    tvm.testing.main()
