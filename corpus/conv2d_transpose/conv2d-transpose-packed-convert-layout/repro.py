"""ConvertLayout fails an internal check on packed data of nn.conv2d_transpose

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
    data = relax.Var("data", R.Tensor((2, 1, 3, 4, 8), "float32"))
    weight = relax.Var("weight", R.Tensor((8, 8, 2, 3), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [data, weight]):
        with bb.dataflow():
            convolved = bb.emit(relax.op.nn.conv2d_transpose(data, weight, data_layout="NCHW8c"))
            output = bb.emit_output(convolved)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    with target:
        mod = relax.transform.ConvertLayout({"relax.nn.conv2d_transpose": ["NHWC", "HWIO"]})(mod)
    relax.build(mod, target)
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "conv2d_transpose") or not names(
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
