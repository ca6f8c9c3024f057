"""A call that a legalization cannot lower raises an error naming operator and attributes."""

import pytest
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_output_layout_of_pooling():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 2, 5), "float32")):
            with R.dataflow():
                y = R.nn.max_pool1d(x, out_layout="NWC")
                R.output(y)
            return y

    with pytest.raises(
        NotImplementedError, match=r"max_pool1d cannot be lowered .*out_layout='NWC'"
    ):
        relax.transform.LegalizeOps()(Module)


def test_lowerable_calls_are_lowered():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 2, 5), "float32")):
            with R.dataflow():
                y = R.nn.max_pool1d(x)
                R.output(y)
            return y

    assert "call_tir" in str(relax.transform.LegalizeOps()(Module))


if __name__ == "__main__":
    tvm.testing.main()
