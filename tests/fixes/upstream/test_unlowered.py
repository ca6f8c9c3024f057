"""What a legalization cannot lower is an error that names the operator and its attributes."""

import pytest
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_output_layout_of_a_convolution():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 2, 5), "float32"), w: R.Tensor((2, 2, 3), "float32")):
            with R.dataflow():
                y = R.nn.conv1d(x, w, out_layout="NWC")
                R.output(y)
            return y

    with pytest.raises(NotImplementedError, match=r"conv1d cannot be lowered .*out_layout='NWC'"):
        relax.transform.LegalizeOps()(Module)


def test_what_can_be_lowered_is():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 2, 5), "float32"), w: R.Tensor((2, 2, 3), "float32")):
            with R.dataflow():
                y = R.nn.conv1d(x, w)
                R.output(y)
            return y

    assert "call_tir" in str(relax.transform.LegalizeOps()(Module))


if __name__ == "__main__":
    tvm.testing.main()
