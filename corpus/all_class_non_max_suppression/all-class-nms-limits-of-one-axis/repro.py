"""vision.all_class_non_max_suppression raises a TypeError for limits of shape (1,)

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


def program(most, overlap, least):
    boxes = relax.Var("boxes", R.Tensor((1, 1, 4), "float32"))
    scores = relax.Var("scores", R.Tensor((1, 1, 1), "float32"))
    most = relax.const(most, "int64")
    overlap = relax.const(overlap, "float32")
    least = relax.const(least, "float32")
    bb = relax.BlockBuilder()
    with bb.function("main", [boxes, scores]):
        with bb.dataflow():
            y_all = bb.emit(
                relax.op.vision.all_class_non_max_suppression(boxes, scores, most, overlap, least)
            )
            y = bb.emit(relax.TupleGetItem(y_all, 0))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


try:
    most = np.array([10], "int64")
    overlap = np.array([1024], "float32") / 2048
    least = np.array([0.0], "float32")
    mod = program(most, overlap, least)
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    relax.build(mod, target)
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "all_class_non_max_suppression") or not names(
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
