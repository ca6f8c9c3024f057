"""Quantization of float16 to 16 bits."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_quantize_saturates():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((2,), "float16"),
            scale: R.Tensor((1,), "float16"),
            zero: R.Tensor((1,), "int16"),
        ):
            with R.dataflow():
                y = R.quantize(x, scale, zero, axis=0, out_dtype="int16")
                R.output(y)
            return y

    arrays = np.array([65504, -65504], "float16"), np.ones(1, "float16"), np.zeros(1, "int16")
    vm = relax.VirtualMachine(relax.build(Module, tvm.target.Target("llvm")), tvm.cpu())
    result = vm["main"](*map(tvm.runtime.tensor, arrays)).numpy()
    np.testing.assert_array_equal(result, [32767, -32768])


if __name__ == "__main__":
    tvm.testing.main()
