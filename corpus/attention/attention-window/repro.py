"""nn.attention with a window_size has no legalization

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import tvm
from tvm import relax
from tvm.script import relax as R


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


# While the bug is there this raises, and Python exits with 1.
mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
relax.build(mod, target)
