"""Transformations of the layout of truth values."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_bool_transposed():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 3), "bool")):
            with R.dataflow():
                y = R.layout_transform(x, index_map=lambda i, j: (j, i))
                R.output(y)
            return y

    executable = relax.build(Module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    x = np.array([[True, False, True], [False, False, True]])
    np.testing.assert_array_equal(vm["main"](tvm.runtime.tensor(x)).numpy(), x.T)


if __name__ == "__main__":
    tvm.testing.main()
