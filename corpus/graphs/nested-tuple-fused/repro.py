"""FuseTIR fails an internal check on an element of a tuple within a tuple

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
    x = relax.Var("x", R.Tensor((4,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            t = bb.emit(relax.Tuple([x, x]))
            u = bb.emit(relax.Tuple([t, x]))
            v_ = bb.emit(relax.TupleGetItem(u, 0))
            w = bb.emit(relax.TupleGetItem(v_, 1))
            output = bb.emit_output(w)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target))
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "tuple", "tuple_item") or not names(
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
