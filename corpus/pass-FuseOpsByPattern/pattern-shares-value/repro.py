"""FuseOpsByPattern reads a value before it is defined where two matches share it

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
            a = bb.emit(relax.op.exp(x))
            s = bb.emit(relax.op.add(a, a))
            b = bb.emit(relax.op.nn.relu(s))
            y = bb.emit(relax.op.add(a, b))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    with target:
        mod = relax.transform.FuseOpsByPattern(
            [
                (
                    "fused.exp-add",
                    relax.dpl.is_op("relax.add")(
                        relax.dpl.is_op("relax.exp")(relax.dpl.wildcard()), relax.dpl.wildcard()
                    ),
                )
            ]
        )(mod)
    relax.build(mod, target)
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "exp", "add", "relu") or not names(
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
