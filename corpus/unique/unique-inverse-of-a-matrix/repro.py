"""unique gives the inverse indices of a matrix in its shape, not as a vector

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x = relax.Var("x", R.Tensor((2, 2), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            v__all = bb.emit(relax.op.unique(x, return_inverse=True))
            v_ = bb.emit(relax.TupleGetItem(v__all, 0))
            i = bb.emit(relax.TupleGetItem(v__all, 1))
            outputs = [bb.emit_output(v_), bb.emit_output(i)]
        bb.emit_func_output(relax.Tuple(outputs))
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x = np.array([[2.0, 1.0], [1.0, 2.0]], "float32")
result = vm["main"](tvm.runtime.tensor(x))
found = [(each.shape, str(each.numpy().dtype)) for each in result]

expected = [((2,), "float32"), ((4,), "int64")]
print("expected:", expected)
print("actual:", found)
sys.exit(1 if found != expected else 0)
