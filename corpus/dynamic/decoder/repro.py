"""a decoder of nn.conv1d, repeat and nn.conv1d_transpose compiles and is right

Exits with 1 while the bug is there and with 0 once it is gone. Gone with apache-tvm 0.27.0.post1.
Needs tvm, numpy and torch.
"""

import hashlib
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def drawn(key, shape, dtype):
    """Multiples of 1/2048 from -2 up to 2, the same on every machine."""
    seed = np.frombuffer(hashlib.sha256(key.encode()).digest()[:16], "<u8")
    words = np.random.Philox(key=seed).random_raw(math.prod(shape))
    values = ((words >> 40) % 8192) / 2048 - 2
    return values.astype(dtype).reshape(shape)


def program():
    m = tirx.Var("m", "int64")
    x0 = relax.Var("x0", R.Tensor((1, 3, m), "float32"))
    x1 = relax.Var("x1", R.Tensor((2, 3, 5), "float32"))
    x2 = relax.Var("x2", R.Tensor((2, 2, 7), "float32"))
    x3 = relax.Var("x3", R.Tensor((2, 1, 5), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1, x2, x3]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.nn.conv1d(x0, x1, padding=[2, 2]))
            n0_1 = bb.emit(relax.op.repeat(n0_0, axis=2, repeats=2048))
            n0_2 = bb.emit(relax.op.nn.conv1d(n0_1, x2, strides=[5]))
            n0_3 = bb.emit(relax.op.nn.leakyrelu(n0_2, alpha=0.1))
            n0_4 = bb.emit(relax.op.nn.conv1d_transpose(n0_3, x3, strides=[5]))
            n0_5 = bb.emit(relax.op.tanh(n0_4))
            output = bb.emit_output(n0_5)
        bb.emit_func_output(output)
    return bb.get()


def reference(x0, x1, x2, x3):
    """PyTorch, in float64."""
    x0, x1, x2, x3 = (torch.tensor(each.astype("float64")) for each in (x0, x1, x2, x3))
    n0_0 = F.conv1d(F.pad(x0, (2, 2)), x1)
    n0_1 = n0_0.repeat_interleave(2048, 2)
    n0_2 = F.conv1d(n0_1, x2, stride=5)
    n0_3 = F.leaky_relu(n0_2, 0.1)
    n0_4 = torch.conv_transpose1d(n0_3, x3, stride=5)
    n0_5 = torch.tanh(n0_4)
    return n0_5.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
# m = 2
x0 = drawn("3/x0/0", (1, 3, 2), "float32")
x1 = drawn("3/x1/0", (2, 3, 5), "float32")
x2 = drawn("3/x2/0", (2, 2, 7), "float32")
x3 = drawn("3/x3/0", (2, 1, 5), "float32")
result = vm["main"](*map(tvm.runtime.tensor, (x0, x1, x2, x3)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 1, 4090), "float32"):
    print("expected:", ((1, 1, 4090), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(x0, x1, x2, x3)
# Bound on the rounding in the program's own dtypes, the largest of all elements.
bound = 7.19e-05
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
