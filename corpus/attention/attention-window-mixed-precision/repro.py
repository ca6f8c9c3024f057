"""ToMixedPrecision drops the window_size of nn.attention

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
    query = relax.Var("query", R.Tensor((2, 4, 2, 8), "float32"))
    key = relax.Var("key", R.Tensor((2, 4, 2, 8), "float32"))
    value = relax.Var("value", R.Tensor((2, 4, 2, 8), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [query, key, value]):
        with bb.dataflow():
            attended = bb.emit(relax.op.nn.attention(query, key, value, window_size=1))
            output = bb.emit_output(attended)
        bb.emit_func_output(output)
    return bb.get()


def reference(query, key, value):
    """PyTorch, in float64."""
    query, key, value = (torch.tensor(each.astype("float64")) for each in (query, key, value))
    q, k, v = (each.transpose(1, 2) for each in (query, key, value))
    mask = torch.ones(4, 4, dtype=torch.bool).triu()
    attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2)
    return attended.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
with target:
    mod = relax.transform.ToMixedPrecision()(mod)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
query = drawn("235/query/0", (2, 4, 2, 8), "float32")
key = drawn("235/key/0", (2, 4, 2, 8), "float32")
value = drawn("235/value/0", (2, 4, 2, 8), "float32")
result = vm["main"](*map(tvm.runtime.tensor, (query, key, value)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((2, 4, 2, 8), "float32"):
    print("expected:", ((2, 4, 2, 8), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(query, key, value)
# Bound on the rounding in float16 (ToMixedPrecision), element by element.
bound = np.array(
    [
        [
            [
                [0.00777, 0.0122, 0.0174, 0.0174, 0.0069, 0.0134, 0.0199, 0.0177],
                [0.0126, 0.0152, 0.00911, 0.00777, 0.0149, 0.00843, 0.014, 0.00874],
            ],
            [
                [0.0113, 0.00887, 0.0115, 0.00697, 0.00797, 0.00872, 0.00829, 0.00917],
                [0.0133, 0.0121, 0.00803, 0.0085, 0.0068, 0.00701, 0.0121, 0.00939],
            ],
            [
                [0.0144, 0.0053, 0.00144, 0.00348, 0.00603, 0.00682, 0.00833, 0.00748],
                [0.00451, 0.00892, 0.00954, 0.00394, 0.00211, 0.00584, 0.00284, 0.00615],
            ],
            [
                [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.000489, 0.0],
                [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.000489],
            ],
        ],
        [
            [
                [0.00977, 0.00689, 0.0111, 0.0165, 0.00546, 0.00727, 0.00991, 0.0138],
                [0.0055, 0.0053, 0.00954, 0.0132, 0.00767, 0.0108, 0.00964, 0.013],
            ],
            [
                [0.00876, 0.00929, 0.00848, 0.0155, 0.0104, 0.00515, 0.00741, 0.0149],
                [0.00296, 0.00613, 0.00786, 0.00514, 0.00705, 0.00195, 0.00881, 0.00648],
            ],
            [
                [0.00468, 0.00828, 0.00443, 0.00555, 0.0107, 0.00339, 0.0051, 0.0157],
                [0.00318, 0.00737, 0.00626, 0.0115, 0.00879, 0.00416, 0.00732, 0.0119],
            ],
            [
                [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.000489],
                [0.0, 0.0, 0.0, 0.000489, 0.0, 0.0, 0.0, 0.000489],
            ],
        ],
    ],
    "float64",
)
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
