"""The sum of a product and a third operand."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def _run(module, *arrays):
    executable = relax.build(module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*map(tvm.runtime.tensor, arrays)).numpy()


def test_numbers():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32"), z: R.Tensor((3,), "float32")
        ):
            with R.dataflow():
                w = R.ewise_fma(x, y, z)
                R.output(w)
            return w

    x, y, z = (np.arange(3, dtype="float32") + shift for shift in (1, -5, 2))
    np.testing.assert_array_equal(_run(Module, x, y, z), x * y + z)


if __name__ == "__main__":
    tvm.testing.main()
