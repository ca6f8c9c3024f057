"""nn.group_norm of symbolic sizes for opencl fails: a local buffer has no constant size

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
    k = tirx.Var("k", "int64")
    m = tirx.Var("m", "int64")
    n = tirx.Var("n", "int64")
    x0 = relax.Var("x0", R.Tensor((m, n, k), "float32"))
    x1 = relax.Var("x1", R.Tensor((n,), "float32"))
    x2 = relax.Var("x2", R.Tensor((n,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1, x2]):
        with bb.dataflow():
            n0_0 = bb.emit(
                relax.op.nn.group_norm(x0, x1, x2, axes=[2], channel_axis=1, num_groups=1)
            )
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target(
        {"kind": "opencl"}, host=tvm.target.Target({"kind": "llvm", "opt-level": 0})
    )
    relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target))
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "group_norm") or not names(
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
