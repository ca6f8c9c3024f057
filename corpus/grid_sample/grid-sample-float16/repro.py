"""image.grid_sample of float16 gives float32, not float16

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x = relax.Var("x", R.Tensor((1, 1, 2, 2), "float16"))
    grid = relax.Var("grid", R.Tensor((1, 2, 1, 1), "float16"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, grid]):
        with bb.dataflow():
            y = bb.emit(relax.op.image.grid_sample(x, grid))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x = np.array([[[[2510, -1224], [2858, 1659]]]], "float16") / 2048
grid = np.full((1, 2, 1, 1), 0.0, "float16")
result = vm["main"](*map(tvm.runtime.tensor, (x, grid)))
found = [(each.shape, str(each.numpy().dtype)) for each in [result]]

expected = [((1, 1, 1, 1), "float16")]
print("expected:", expected)
print("actual:", found)
sys.exit(1 if found != expected else 0)
