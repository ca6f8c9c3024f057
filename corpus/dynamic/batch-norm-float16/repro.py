"""nn.batch_norm of float16 gives float32, so that add raises a TypeError

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import re
import sys

import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def names(text, *terms):
    """True if text has one of terms as whole words, apart or together, in any case."""
    each = (r"[\W_]*".join(re.findall("[0-9A-Za-z]+", term)) for term in terms)
    return re.search(rf"(?i)(?<![0-9A-Za-z])(?:{'|'.join(each)})(?![0-9A-Za-z])", text)


def program():
    m = tirx.Var("m", "int64")
    x = relax.Var("x", R.Tensor((m, 2), "float16"))
    g = relax.Var("g", R.Tensor((2,), "float16"))
    b = relax.Var("b", R.Tensor((2,), "float16"))
    u = relax.Var("u", R.Tensor((2,), "float16"))
    v_ = relax.Var("v", R.Tensor((2,), "float16"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, g, b, u, v_]):
        with bb.dataflow():
            y_all = bb.emit(relax.op.nn.batch_norm(x, g, b, u, v_, axis=1))
            y = bb.emit(relax.TupleGetItem(y_all, 0))
            z = bb.emit(relax.op.add(y, x))
            output = bb.emit_output(z)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    relax.build(mod, target)
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "batch_norm", "add") or not names(
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
