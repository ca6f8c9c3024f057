"""a dilated conv2d with strides gives a gradient that is larger than its data

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    data = relax.Var("data", R.Tensor((1, 1, 3, 1), "float32"))
    weight = relax.Var("weight", R.Tensor((1, 1, 2, 1), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [data, weight]):
        with bb.dataflow():
            convolved = bb.emit(relax.op.nn.conv2d(data, weight, dilation=[2, 1], strides=[2, 1]))
            n1_1 = bb.emit(relax.op.sum(convolved))
            output = bb.emit_output(n1_1)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
with target:
    mod = relax.transform.Gradient("main", [mod["main"].params[0]])(mod)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
data = np.full((1, 1, 3, 1), 1.0, "float32")
weight = np.full((1, 1, 2, 1), 1.0, "float32")
result = vm["main_adjoint"](*map(tvm.runtime.tensor, (data, weight)))[1][0]
found = [(each.shape, str(each.numpy().dtype)) for each in [result]]

expected = [((1, 1, 3, 1), "float32")]
print("expected:", expected)
print("actual:", found)
sys.exit(1 if found != expected else 0)
