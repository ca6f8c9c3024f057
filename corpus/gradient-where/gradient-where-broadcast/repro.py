"""where gives a gradient of the result's shape in an operand that is broadcast

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x0 = relax.Var("x0", R.Tensor((1,), "float32"))
    x1 = relax.Var("x1", R.Tensor((1,), "bool"))
    x2 = relax.Var("x2", R.Tensor((), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1, x2]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.where(x1, x0, x2))
            n1_1 = bb.emit(relax.op.sum(n0_0))
            output = bb.emit_output(n1_1)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
with target:
    mod = relax.transform.Gradient("main", [mod["main"].params[2]])(mod)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x0 = np.array([1.0], "float32")
x1 = np.array([True], "bool")
x2 = np.array(1.0, "float32")
result = vm["main_adjoint"](*map(tvm.runtime.tensor, (x0, x1, x2)))[1][0]
found = [(each.shape, str(each.numpy().dtype)) for each in [result]]

expected = [((), "float32")]
print("expected:", expected)
print("actual:", found)
sys.exit(1 if found != expected else 0)
