"""vision.non_max_suppression of float16 fails when it runs: its sort takes float32 alone

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import re
import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def names(text, *terms):
    """True if text has one of terms as whole words, apart or together, in any case."""
    each = (r"[\W_]*".join(re.findall("[0-9A-Za-z]+", term)) for term in terms)
    return re.search(rf"(?i)(?<![0-9A-Za-z])(?:{'|'.join(each)})(?![0-9A-Za-z])", text)


def program():
    x = relax.Var("x", R.Tensor((1, 2, 6), "float16"))
    count = relax.Var("count", R.Tensor((1,), "int32"))
    places = relax.Var("places", R.Tensor((1, 2), "int32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, count, places]):
        with bb.dataflow():
            y_all = bb.emit(relax.op.vision.non_max_suppression(x, count, places))
            y = bb.emit(relax.TupleGetItem(y_all, 0))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
    x = np.array([[[0.0, 0.25, 0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 5.0, 5.0, 6.0, 6.0]]], "float16")
    count = np.array([2], "int32")
    places = np.array([[0, 1]], "int32")
    vm["main"](*map(tvm.runtime.tensor, (x, count, places)))
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "non_max_suppression") or not names(
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
