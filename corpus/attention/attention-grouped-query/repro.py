"""nn.attention with grouped queries (batch or key/value heads > 1) gives wrong values

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm, numpy and torch.
"""

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
    query = relax.Var("query", R.Tensor((2, 4, 4, 8), "float32"))
    key = relax.Var("key", R.Tensor((2, 4, 2, 8), "float32"))
    value = relax.Var("value", R.Tensor((2, 4, 2, 8), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [query, key, value]):
        with bb.dataflow():
            attended = bb.emit(relax.op.nn.attention(query, key, value))
            output = bb.emit_output(attended)
        bb.emit_func_output(output)
    return bb.get()


def reference(query, key, value):
    """PyTorch, in float64."""
    query, key, value = (torch.tensor(each.astype("float64")) for each in (query, key, value))
    q, k, v = (each.transpose(1, 2) for each in (query, key, value))
    k = k.repeat_interleave(2, dim=1)
    v = v.repeat_interleave(2, dim=1)
    attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
    return attended.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
query = drawn("24/query/0", (2, 4, 4, 8), "float32")
key = drawn("24/key/0", (2, 4, 2, 8), "float32")
value = drawn("24/value/0", (2, 4, 2, 8), "float32")
result = vm["main"](*map(tvm.runtime.tensor, (query, key, value)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((2, 4, 4, 8), "float32"):
    print("expected:", ((2, 4, 4, 8), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(query, key, value)
# Bound on the rounding in the program's own dtypes, the largest of all elements.
bound = 3.87e-06
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
