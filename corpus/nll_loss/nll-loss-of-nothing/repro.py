"""nn.nll_loss leaves its output unwritten where it has no rows at run time

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
    n = tirx.Var("n", "int64")
    x = relax.Var("x", R.Tensor((n, 3), "float32"))
    targets = relax.Var("targets", R.Tensor((n,), "int64"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, targets]):
        with bb.dataflow():
            y = bb.emit(relax.op.nn.nll_loss(x, targets, reduction="sum"))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
# Have glibc fill fresh memory, so that elements that nothing writes show.
if hasattr(ctypes.CDLL(None), "mallopt"):
    ctypes.CDLL(None).mallopt(-6, 170)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu(), memory_cfg="naive")
# n = 0
x = np.zeros((0, 3), "float32")
targets = np.zeros((0,), "int64")
result = vm["main"](*map(tvm.runtime.tensor, (x, targets)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((), "float32"):
    print("expected:", ((), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.array(-0.0, "float64")
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
