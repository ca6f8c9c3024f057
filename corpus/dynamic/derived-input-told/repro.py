"""an input of m//5 - 1 elements beside one of m compiles and is right

Exits with 1 while the bug is there and with 0 once it is gone. Gone with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program():
    m = tirx.Var("m", "int64")
    x = relax.Var("x", R.Tensor((tirx.floordiv(m, 5) - 1,), "float32"))
    z = relax.Var("z", R.Tensor((m,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, z]):
        with bb.dataflow():
            y = bb.emit(relax.op.nn.relu(x))
            w = bb.emit(relax.op.nn.relu(z))
            outputs = [bb.emit_output(y), bb.emit_output(w)]
        bb.emit_func_output(relax.Tuple(outputs))
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
# m = 5
x = np.zeros((0,), "float32")
z = np.array([453, 2789, -1887, -252, -4037], "float32") / 2048
# Compared is output 0 of 2.
result = vm["main"](*map(tvm.runtime.tensor, (x, z)))
found = result[0].numpy()
if (found.shape, str(found.dtype)) != ((0,), "float32"):
    print("expected:", ((0,), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.zeros((0,), "float64")
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
