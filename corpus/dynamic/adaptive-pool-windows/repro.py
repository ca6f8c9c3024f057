"""nn.adaptive_avg_pool2d sums a part of each window where windows vary along one axis alone

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
    n = tirx.Var("n", "int64")
    x = relax.Var("x", R.Tensor((1, 1, m, n), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.nn.adaptive_avg_pool2d(x, output_size=[2, 1]))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def reference(x):
    """PyTorch, in float64."""
    x = torch.tensor(x.astype("float64"))
    y = F.adaptive_avg_pool2d(x, (2, 1))
    return y.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
# m = 3, n = 2
x = np.array([[[[2510, -1224], [2858, 1659], [2847, -3414]]]], "float32") / 2048
result = vm["main"](tvm.runtime.tensor(x))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 1, 2, 1), "float32"):
    print("expected:", ((1, 1, 2, 1), "float32"), "actual:", (found.shape, str(found.dtype)))
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
