"""nn.attention_var_len has no legalization

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import tvm
from tvm import relax
from tvm.script import relax as R


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


# While the bug is there this raises, and Python exits with 1.
mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
relax.build(mod, target)
