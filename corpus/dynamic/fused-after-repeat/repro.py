"""FuseTIR of TVM 0.26 fails where repeat, nn.conv1d and nn.relu are fused

Exits with 1 while the bug is there and with 0 once it is gone. Gone with apache-tvm 0.27.0.post1.
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
    x = relax.Var("x", R.Tensor((1, 2, m), "float32"))
    w = relax.Var("w", R.Tensor((2, 2, 1), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, w]):
        with bb.dataflow():
            r = bb.emit(relax.op.repeat(x, axis=2, repeats=2))
            c = bb.emit(relax.op.nn.conv1d(r, w))
            y = bb.emit(relax.op.nn.relu(c))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def reference(x, w):
    """PyTorch, in float64."""
    x, w = (torch.tensor(each.astype("float64")) for each in (x, w))
    r = x.repeat_interleave(2, 2)
    c = F.conv1d(r, w)
    y = torch.relu(c)
    return y.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(
    relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target)), tvm.cpu()
)
# m = 1
x = np.array([[[2510], [-1224]]], "float32") / 2048
w = np.array([[[2310], [-1176]], [[2373], [-746]]], "float32") / 2048
result = vm["main"](*map(tvm.runtime.tensor, (x, w)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 2, 2), "float32"):
    print("expected:", ((1, 2, 2), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(x, w)
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
