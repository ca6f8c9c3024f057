"""FoldConstant leaves a call of an undefined function before a dynamic_strided_slice

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


def program():
    b = tirx.Var("b", "int64")
    m = tirx.Var("m", "int64")
    n = tirx.Var("n", "int64")
    x0 = relax.Var("x0", R.Tensor((b, 2, m, n), "float32"))
    c1 = relax.Var("c1", R.Tensor((4,), "int64"))
    c2 = relax.Var("c2", R.Tensor((4,), "int64"))
    c3 = relax.Var("c3", R.Tensor((4,), "int64"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, c1, c2, c3]):
        with bb.dataflow():
            n1_0 = bb.emit(relax.op.dynamic_strided_slice(x0, c1, c2, c3))
            n1_1 = bb.match_cast(n1_0, R.Tensor((b, 2, m - 1, n), "float32"))
            output = bb.emit_output(n1_1)
        bb.emit_func_output(output)
    return bb.get()


try:
    c1 = np.array([0, 0, 1, 0], "int64")
    c2 = np.full((4,), 2147483647, "int64")
    c3 = np.full((4,), 1, "int64")
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    with target:
        mod = relax.transform.BindParams(
            "main",
            {
                "c1": tvm.runtime.tensor(c1),
                "c2": tvm.runtime.tensor(c2),
                "c3": tvm.runtime.tensor(c3),
            },
        )(mod)
        mod = relax.transform.FoldConstant()(mod)
    relax.build(mod, target)
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "dynamic_strided_slice", "match_cast") or not names(
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
