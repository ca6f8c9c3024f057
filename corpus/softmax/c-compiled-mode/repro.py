"""exec_mode='compiled' for target c gives C code that does not compile: no prototype in a header

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
    n = tirx.Var("n", "int64")
    x = relax.Var("x", R.Tensor((n, 4), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.nn.softmax(x))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target("c")
    # This compiles the generated C code.
    relax.VirtualMachine(relax.build(mod, target, exec_mode="compiled"), tvm.cpu())
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "softmax") or not names(
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
