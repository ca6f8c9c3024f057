"""astype from float8_e4m3fn to float32 makes 2**-7 of 0

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm, numpy, torch and ml_dtypes.
"""

import sys

import ml_dtypes
import numpy as np
import torch
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x = relax.Var("x", R.Tensor((2,), "float8_e4m3fn"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.astype(x, dtype="float32"))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def reference(x):
    """PyTorch, in float64."""
    x = torch.tensor(x.astype("float64"))
    y = x
    return y.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x = np.array([0.0, 1.0], "float32")
x = x.astype(ml_dtypes.float8_e4m3fn)
result = vm["main"](tvm.runtime.tensor(x))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((2,), "float32"):
    print("expected:", ((2,), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(x)
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
