"""Suppression of boxes of other dtypes than float32."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_dtypes(dtype):
    @I.ir_module
    class Module:
        @R.function
        def main(
            rows: R.Tensor((1, 3, 6), dtype),
            count: R.Tensor((1,), "int32"),
            places: R.Tensor((1, 3), "int32"),
        ):
            with R.dataflow():
                kept = R.vision.non_max_suppression(rows, count, places)
                y = kept[0]
                R.output(y)
            return y

    # The best row is not valid: only two are.
    rows = [[0, 0.25, 0, 0, 1, 1], [0, 0.5, 5, 5, 6, 6], [0, 0.75, 8, 8, 9, 9]]
    arrays = [np.array([rows], dtype), np.array([2], "int32"), np.array([[3, 4, 5]], "int32")]
    executable = relax.build(Module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    places = vm["main"](*map(tvm.runtime.tensor, arrays)).numpy()
    np.testing.assert_array_equal(places, [[4, 3, -1]])


if __name__ == "__main__":
    tvm.testing.main()
