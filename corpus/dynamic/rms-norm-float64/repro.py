"""nn.rms_norm of float64 is computed in float32

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm, numpy and torch.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program():
    m = tirx.Var("m", "int64")
    x = relax.Var("x", R.Tensor((m, 4), "float64"))
    w = relax.Var("w", R.Tensor((4,), "float64"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, w]):
        with bb.dataflow():
            y = bb.emit(relax.op.nn.rms_norm(x, w))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def reference(x, w):
    """PyTorch, in float64."""
    x, w = (torch.tensor(each.astype("float64")) for each in (x, w))
    y = F.rms_norm(x, (4,), w, eps=1e-05)
    return y.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
# m = 1
x = np.array([[2510, -1224, 2858, 1659]], "float64") / 2048
w = np.array([2310, -1176, 2373, -746], "float64") / 2048
result = vm["main"](*map(tvm.runtime.tensor, (x, w)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 4), "float64"):
    print("expected:", ((1, 4), "float64"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(x, w)
# Bound on the rounding in the program's own dtypes and in PyTorch, the largest of all elements.
bound = 4.65e-15
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
