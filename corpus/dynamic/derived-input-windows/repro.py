"""an input of (m + p - k)//s + 1 elements beside m, p, k and s compiles and is right

Exits with 1 while the bug is there and with 0 once it is gone. Gone with apache-tvm 0.27.0.post1.
Needs tvm, numpy and torch.
"""

import sys

import numpy as np
import torch
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program():
    k = tirx.Var("k", "int64")
    m = tirx.Var("m", "int64")
    p = tirx.Var("p", "int64")
    s = tirx.Var("s", "int64")
    x = relax.Var("x", R.Tensor((tirx.floordiv(m + p - k, s) + 1,), "float32"))
    a = relax.Var("a", R.Tensor((m,), "float32"))
    c = relax.Var("c", R.Tensor((p,), "float32"))
    d = relax.Var("d", R.Tensor((k,), "float32"))
    e = relax.Var("e", R.Tensor((s,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, a, c, d, e]):
        with bb.dataflow():
            y = bb.emit(relax.op.nn.relu(x))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def reference(x):
    """PyTorch, in float64."""
    x = torch.tensor(x.astype("float64"))
    y = torch.relu(x)
    return y.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
# k = 3, m = 7, p = 2, s = 2
x = np.array([2510, -1224, 2858, 1659], "float32") / 2048
a = np.array([-2231, 1718, -2793, 1328, 1528, 1090, 12], "float32") / 2048
c = np.array([-543, 1193], "float32") / 2048
d = np.array([-3087, -4006, -3958], "float32") / 2048
e = np.array([-1787, -1412], "float32") / 2048
result = vm["main"](*map(tvm.runtime.tensor, (x, a, c, d, e)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((4,), "float32"):
    print("expected:", ((4,), "float32"), "actual:", (found.shape, str(found.dtype)))
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
