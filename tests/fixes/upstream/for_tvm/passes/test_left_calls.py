"""Code generation names the call that lowering left."""

import pytest
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@pytest.mark.parametrize("exec_mode", ["bytecode", "compiled"])
def test_left_call(exec_mode):
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("a", "m", 4), "float32"), y: R.Tensor(("b", 4, 3), "float32")):
            with R.dataflow():
                z = R.matmul(x, y)
                R.output(z)
            return z

    with pytest.raises(Exception, match=r"relax.matmul cannot be lowered with .*\(b, 4, 3\)"):
        relax.build(Module, tvm.target.Target("llvm"), exec_mode=exec_mode)
