"""grad.max_pool2d_backward for target c gives values that depend on undefined memory

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm, numpy and torch.
"""

import ctypes
import hashlib
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F
import tvm
from tvm import relax
from tvm.script import relax as R


def drawn(key, shape, dtype):
    """Multiples of 1/2048 from -2 up to 2, the same on every machine."""
    seed = np.frombuffer(hashlib.sha256(key.encode()).digest()[:16], "<u8")
    words = np.random.Philox(key=seed).random_raw(math.prod(shape))
    values = ((words >> 40) % 8192) / 2048 - 2
    return values.astype(dtype).reshape(shape)


def program():
    x0 = relax.Var("x0", R.Tensor((2, 3, 4, 5), "float32"))
    x1 = relax.Var("x1", R.Tensor((2, 3, 3, 4), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.grad.max_pool2d_backward(x1, x0, pool_size=[2, 2]))
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


def reference(x0, x1):
    """PyTorch, in float64."""
    x0, x1 = (torch.tensor(each.astype("float64")) for each in (x0, x1))
    n0_0_at = x0.clone().requires_grad_()
    n0_0_pooled = F.max_pool2d(n0_0_at, (2, 2), stride=(1, 1))
    (n0_0,) = torch.autograd.grad(n0_0_pooled, n0_0_at, x1)
    return n0_0.numpy()


mod = program()
target = tvm.target.Target("c")
# Have glibc fill fresh memory, so that elements that nothing writes show.
if hasattr(ctypes.CDLL(None), "mallopt"):
    ctypes.CDLL(None).mallopt(-6, 170)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu(), memory_cfg="naive")
x0 = drawn("0/x0/0", (2, 3, 4, 5), "float32")
x1 = drawn("0/x1/0", (2, 3, 3, 4), "float32")
result = vm["main"](*map(tvm.runtime.tensor, (x0, x1)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((2, 3, 4, 5), "float32"):
    print("expected:", ((2, 3, 4, 5), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(x0, x1)
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
