"""nn.attention gives NaN where a causal mask hides keys and the scores are far below 0

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
    query = relax.Var("query", R.Tensor((1, 2, 1, 1), "float32"))
    key = relax.Var("key", R.Tensor((1, 2, 1, 1), "float32"))
    value = relax.Var("value", R.Tensor((1, 2, 1, 1), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [query, key, value]):
        with bb.dataflow():
            attended = bb.emit(relax.op.nn.attention(query, key, value, causal_mask="TopLeft"))
            output = bb.emit_output(attended)
        bb.emit_func_output(output)
    return bb.get()


def reference(query, key, value):
    """PyTorch, in float64."""
    query, key, value = (torch.tensor(each.astype("float64")) for each in (query, key, value))
    q, k, v = (each.transpose(1, 2) for each in (query, key, value))
    attended = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
    return attended.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
query = np.full((1, 2, 1, 1), 20.0, "float32")
key = np.full((1, 2, 1, 1), -10.0, "float32")
value = np.array([[[[1.0]], [[3.0]]]], "float32")
result = vm["main"](*map(tvm.runtime.tensor, (query, key, value)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 2, 1, 1), "float32"):
    print("expected:", ((1, 2, 1, 1), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(query, key, value)
# Bound on the rounding in the program's own dtypes, element by element.
bound = np.array([[[[0.0]], [[7.25e-05]]]], "float64")
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
