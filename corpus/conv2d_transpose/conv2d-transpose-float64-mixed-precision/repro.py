"""ToMixedPrecision computes a float64 convolution in float32 and keeps the result in float16

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm, numpy and torch.
"""

import hashlib
import math
import sys

import numpy as np
import torch
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
    data = relax.Var("data", R.Tensor((2, 2, 3, 4), "float64"))
    weight = relax.Var("weight", R.Tensor((2, 3, 2, 3), "float64"))
    bb = relax.BlockBuilder()
    with bb.function("main", [data, weight]):
        with bb.dataflow():
            convolved = bb.emit(relax.op.nn.conv2d_transpose(data, weight))
            output = bb.emit_output(convolved)
        bb.emit_func_output(output)
    return bb.get()


def reference(data, weight):
    """PyTorch, in float64."""
    data, weight = (torch.tensor(each.astype("float64")) for each in (data, weight))
    convolved = torch.conv_transpose2d(data, weight)
    return convolved.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
with target:
    mod = relax.transform.ToMixedPrecision()(mod)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
data = drawn("2100017126/data/0", (2, 2, 3, 4), "float64")
weight = drawn("2100017126/weight/0", (2, 3, 2, 3), "float64")
result = vm["main"](*map(tvm.runtime.tensor, (data, weight)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((2, 3, 4, 6), "float64"):
    print("expected:", ((2, 3, 4, 6), "float64"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(data, weight)
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
