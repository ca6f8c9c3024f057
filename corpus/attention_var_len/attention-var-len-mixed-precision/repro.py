"""ToMixedPrecision makes nn.attention of nn.attention_var_len and drops where sequences begin

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
    query = relax.Var("query", R.Tensor((1, 7, 2, 8), "float32"))
    key = relax.Var("key", R.Tensor((1, 7, 2, 8), "float32"))
    value = relax.Var("value", R.Tensor((1, 7, 2, 8), "float32"))
    seqstart_q = relax.Var("seqstart_q", R.Tensor((3,), "int32"))
    max_seqlen_q = relax.Var("max_seqlen_q", R.Tensor((), "int32"))
    seqstart_k = relax.Var("seqstart_k", R.Tensor((3,), "int32"))
    max_seqlen_k = relax.Var("max_seqlen_k", R.Tensor((), "int32"))
    bb = relax.BlockBuilder()
    with bb.function(
        "main", [query, key, value, seqstart_q, max_seqlen_q, seqstart_k, max_seqlen_k]
    ):
        with bb.dataflow():
            attended = bb.emit(
                relax.op.nn.attention_var_len(
                    query, key, value, seqstart_q, max_seqlen_q, seqstart_k, max_seqlen_k
                )
            )
            output = bb.emit_output(attended)
        bb.emit_func_output(output)
    return bb.get()


def reference(query, key, value, seqstart_q, seqstart_k):
    """PyTorch, in float64."""
    query, key, value = (torch.tensor(each.astype("float64")) for each in (query, key, value))
    seqstart_q, seqstart_k = (
        torch.tensor(each.astype("int64")) for each in (seqstart_q, seqstart_k)
    )
    attended = torch.zeros((1, 7, 2, 8), dtype=torch.float64)
    q_starts, k_starts = seqstart_q.tolist(), seqstart_k.tolist()
    for q0, q1, k0, k1 in zip(q_starts, q_starts[1:], k_starts, k_starts[1:]):
        q, k, v = (
            each.transpose(1, 2) for each in (query[:, q0:q1], key[:, k0:k1], value[:, k0:k1])
        )
        attended[:, q0:q1] = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
    return attended.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
with target:
    mod = relax.transform.ToMixedPrecision()(mod)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
query = drawn("1229152/query/0", (1, 7, 2, 8), "float32")
key = drawn("1229152/key/0", (1, 7, 2, 8), "float32")
value = drawn("1229152/value/0", (1, 7, 2, 8), "float32")
seqstart_q = np.array([0, 5, 7], "int32")
max_seqlen_q = np.array(5, "int32")
seqstart_k = np.array([0, 5, 7], "int32")
max_seqlen_k = np.array(5, "int32")
result = vm["main"](
    *map(
        tvm.runtime.tensor, (query, key, value, seqstart_q, max_seqlen_q, seqstart_k, max_seqlen_k)
    )
)
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 7, 2, 8), "float32"):
    print("expected:", ((1, 7, 2, 8), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(query, key, value, seqstart_q, seqstart_k)
# Bound on the rounding in float16 (ToMixedPrecision), the largest of all elements.
bound = 0.0312
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
