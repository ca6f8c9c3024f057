"""vision.all_class_non_max_suppression for metal fails: buffer T_gather is used before it is
defined

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


def program(max_output_boxes_per_class, iou_threshold, score_threshold):
    boxes = relax.Var("boxes", R.Tensor((2, 6, 4), "float32"))
    scores = relax.Var("scores", R.Tensor((2, 2, 6), "float32"))
    max_output_boxes_per_class = relax.const(max_output_boxes_per_class, "int64")
    iou_threshold = relax.const(iou_threshold, "float32")
    score_threshold = relax.const(score_threshold, "float32")
    bb = relax.BlockBuilder()
    with bb.function("main", [boxes, scores]):
        with bb.dataflow():
            n0_0_all = bb.emit(
                relax.op.vision.all_class_non_max_suppression(
                    boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold
                )
            )
            n0_0 = bb.emit(relax.TupleGetItem(n0_0_all, 0))
            n0_1 = bb.emit(relax.TupleGetItem(n0_0_all, 1))
            outputs = [bb.emit_output(n0_0), bb.emit_output(n0_1)]
        bb.emit_func_output(relax.Tuple(outputs))
    return bb.get()


try:
    max_output_boxes_per_class = np.array(100, "int64")
    iou_threshold = np.array(1024, "float32") / 2048
    score_threshold = np.array(0.0, "float32")
    mod = program(max_output_boxes_per_class, iou_threshold, score_threshold)
    target = tvm.target.Target(
        {"kind": "metal"}, host=tvm.target.Target({"kind": "llvm", "opt-level": 0})
    )
    relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target))
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
