"""nn.attention of bfloat16 with a scale gives float32, so that add raises a TypeError

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import re
import sys

import tvm
from tvm import relax
from tvm.script import relax as R


def names(text, *terms):
    """True if text has one of terms as whole words, apart or together, in any case."""
    each = (r"[\W_]*".join(re.findall("[0-9A-Za-z]+", term)) for term in terms)
    return re.search(rf"(?i)(?<![0-9A-Za-z])(?:{'|'.join(each)})(?![0-9A-Za-z])", text)


def program():
    query = relax.Var("query", R.Tensor((2, 4, 2, 8), "bfloat16"))
    key = relax.Var("key", R.Tensor((2, 4, 2, 8), "bfloat16"))
    value = relax.Var("value", R.Tensor((2, 4, 2, 8), "bfloat16"))
    residual = relax.Var("residual", R.Tensor((2, 4, 2, 8), "bfloat16"))
    bb = relax.BlockBuilder()
    with bb.function("main", [query, key, value, residual]):
        with bb.dataflow():
            attended = bb.emit(relax.op.nn.attention(query, key, value, scale=0.5))
            added = bb.emit(relax.op.add(attended, residual))
            output = bb.emit_output(added)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    relax.build(mod, target)
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "attention", "add") or not names(
        said,
        "not supported",
        "not implemented",
        "unsupported",
        "NotImplementedError",
        "only support",
        "only supports",
        "cannot be lowered",
    ):
        raise
    print("refused clearly:", said)
    sys.exit(0)
