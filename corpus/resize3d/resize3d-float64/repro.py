"""image.resize3d of float64 is computed in float32

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm, numpy and torch.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x = relax.Var("x", R.Tensor((1, 1, 1, 1, 2), "float64"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.image.resize3d(x, size=relax.ShapeExpr([1, 1, 4])))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def reference(x):
    """PyTorch, in float64."""
    x = torch.tensor(x.astype("float64"))
    y = F.interpolate(x, (1, 1, 4), mode="trilinear")
    return y.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x = np.array([[[[[0.1, 0.3]]]]], "float64")
result = vm["main"](tvm.runtime.tensor(x))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 1, 1, 1, 4), "float64"):
    print("expected:", ((1, 1, 1, 1, 4), "float64"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(x)
# Bound on the rounding in the program's own dtypes and in PyTorch, the largest of all elements.
bound = 9.33e-16
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
