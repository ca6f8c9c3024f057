"""matmul over a symbolic dimension of size 0 returns undefined memory

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import ctypes
import sys

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program():
    m = tirx.Var("m", "int64")
    x0 = relax.Var("x0", R.Tensor((3, m), "float32"))
    x1 = relax.Var("x1", R.Tensor((m, 1), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.matmul(x0, x1))
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
# Have glibc fill fresh memory, so that elements that nothing writes show.
if hasattr(ctypes.CDLL(None), "mallopt"):
    ctypes.CDLL(None).mallopt(-6, 170)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu(), memory_cfg="naive")
# m = 0
x0 = np.zeros((3, 0), "float32")
x1 = np.zeros((0, 1), "float32")
result = vm["main"](*map(tvm.runtime.tensor, (x0, x1)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((3, 1), "float32"):
    print("expected:", ((3, 1), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.full((3, 1), 0.0, "float64")
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
