"""CombineParallelMatmul raises a TypeError for symbolic rows times a constant and a parameter

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import re
import sys

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def names(text, *terms):
    """True if text has one of terms as whole words, apart or together, in any case."""
    each = (r"[\W_]*".join(re.findall("[0-9A-Za-z]+", term)) for term in terms)
    return re.search(rf"(?i)(?<![0-9A-Za-z])(?:{'|'.join(each)})(?![0-9A-Za-z])", text)


def program(w):
    n = tirx.Var("n", "int64")
    x = relax.Var("x", R.Tensor((n, 4), "float32"))
    v_ = relax.Var("v", R.Tensor((4, 3), "float32"))
    w = relax.const(w, "float32")
    bb = relax.BlockBuilder()
    with bb.function("main", [x, v_]):
        with bb.dataflow():
            a = bb.emit(relax.op.matmul(x, v_))
            b = bb.emit(relax.op.matmul(x, w))
            outputs = [bb.emit_output(a), bb.emit_output(b)]
        bb.emit_func_output(relax.Tuple(outputs))
    return bb.get()


try:
    w = np.array(
        [[-3866, 811, 1775], [3482, 2488, 989], [2800, 1090, -1968], [3245, -1452, -1425]],
        "float32",
    )
    w /= 2048
    mod = program(w)
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    with target:
        mod = relax.transform.CombineParallelMatmul()(mod)
    relax.build(mod, target)
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "matmul") or not names(
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
