"""nn.attention of float16 with a scale gives float32, not float16

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import hashlib
import math
import sys

import numpy as np
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
    query = relax.Var("query", R.Tensor((2, 4, 2, 8), "float16"))
    key = relax.Var("key", R.Tensor((2, 4, 2, 8), "float16"))
    value = relax.Var("value", R.Tensor((2, 4, 2, 8), "float16"))
    bb = relax.BlockBuilder()
    with bb.function("main", [query, key, value]):
        with bb.dataflow():
            attended = bb.emit(relax.op.nn.attention(query, key, value, scale=0.5))
            output = bb.emit_output(attended)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
query = drawn("730/query/0", (2, 4, 2, 8), "float16")
key = drawn("730/key/0", (2, 4, 2, 8), "float16")
value = drawn("730/value/0", (2, 4, 2, 8), "float16")
result = vm["main"](*map(tvm.runtime.tensor, (query, key, value)))
found = [(each.shape, str(each.numpy().dtype)) for each in [result]]

expected = [((2, 4, 2, 8), "float16")]
print("expected:", expected)
print("actual:", found)
sys.exit(1 if found != expected else 0)
