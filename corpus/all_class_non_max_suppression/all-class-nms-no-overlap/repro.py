"""vision.all_class_non_max_suppression with an iou_threshold of 0 gives no boxes at all

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


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


most = np.array(10, "int64")
overlap = np.array(0.0, "float32")
least = np.array(0.0, "float32")
mod = program(most, overlap, least)
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
boxes = np.array([[[0.0, 0.0, 1.0, 1.0]]], "float32")
scores = np.array([[[1024]]], "float32") / 2048
result = vm["main"](*map(tvm.runtime.tensor, (boxes, scores)))
found = [(each.shape, str(each.numpy().dtype)) for each in [result]]

expected = [((1, 3), "int64")]
print("expected:", expected)
print("actual:", found)
sys.exit(1 if found != expected else 0)
