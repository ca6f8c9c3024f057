"""nn.batch_norm of float16 gives float32, not float16

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x0 = relax.Var("x0", R.Tensor((3, 4), "float16"))
    x1 = relax.Var("x1", R.Tensor((4,), "float16"))
    x2 = relax.Var("x2", R.Tensor((4,), "float16"))
    x3 = relax.Var("x3", R.Tensor((4,), "float16"))
    x4 = relax.Var("x4", R.Tensor((4,), "float16"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1, x2, x3, x4]):
        with bb.dataflow():
            n0_0_all = bb.emit(relax.op.nn.batch_norm(x0, x1, x2, x3, x4, axis=1))
            n0_0 = bb.emit(relax.TupleGetItem(n0_0_all, 0))
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x0 = np.array(
    [[3976, 3836, 1087, 2844], [1901, 3326, 1569, 418], [2210, 128, -1558, 3930]], "float16"
)
x0 /= 2048
x1 = np.array([-1429, 2512, -3732, 759], "float16") / 2048
x2 = np.array([2039, -655, 2396, 3332], "float16") / 2048
x3 = np.array([447, -1999, 597, 535], "float16") / 2048
x4 = np.array([195, 2978, 3546, 1198], "float16") / 2048
result = vm["main"](*map(tvm.runtime.tensor, (x0, x1, x2, x3, x4)))
found = [(each.shape, str(each.numpy().dtype)) for each in [result]]

expected = [((3, 4), "float16")]
print("expected:", expected)
print("actual:", found)
sys.exit(1 if found != expected else 0)
