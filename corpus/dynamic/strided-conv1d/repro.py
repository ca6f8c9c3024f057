"""nn.conv1d of stride 5 over m elements compiles and is right

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
    w = relax.Var("w", R.Tensor((3, 2, 4), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, w]):
        with bb.dataflow():
            c = bb.emit(relax.op.nn.conv1d(x, w, padding=[1, 1], strides=[5]))
            y = bb.emit(relax.op.tanh(c))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def reference(x, w):
    """PyTorch, in float64."""
    x, w = (torch.tensor(each.astype("float64")) for each in (x, w))
    c = F.conv1d(F.pad(x, (1, 1)), w, stride=5)
    y = torch.tanh(c)
    return y.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
# m = 2
x = np.array([[[2510, -1224], [2858, 1659]]], "float32") / 2048
w = np.array(
    [
        [[2310, -1176, 2373, -746], [596, -341, 3787, -3647]],
        [[730, 1462, -2778, 3825], [-1107, -1063, 3922, 3989]],
        [[-2197, 3361, 905, 82], [-1208, -3755, 3814, 960]],
    ],
    "float32",
)
w /= 2048
result = vm["main"](*map(tvm.runtime.tensor, (x, w)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 3, 1), "float32"):
    print("expected:", ((1, 3, 1), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(x, w)
# Bound on the rounding in the program's own dtypes, the largest of all elements.
bound = 9.3e-07
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
