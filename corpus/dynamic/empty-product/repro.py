"""prod over a symbolic axis that is empty returns undefined memory

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
    x = relax.Var("x", R.Tensor((2, n), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.prod(x, axis=[1]))
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
x = np.zeros((2, 0), "float32")
result = vm["main"](tvm.runtime.tensor(x))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((2,), "float32"):
    print("expected:", ((2,), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.full((2,), 1.0, "float64")
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
