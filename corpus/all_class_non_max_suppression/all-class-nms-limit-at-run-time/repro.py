"""vision.all_class_non_max_suppression takes a limit of boxes that is an input for no limit

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    boxes = relax.Var("boxes", R.Tensor((1, 2, 4), "float32"))
    scores = relax.Var("scores", R.Tensor((1, 1, 2), "float32"))
    most = relax.Var("most", R.Tensor((), "int64"))
    overlap = relax.Var("overlap", R.Tensor((), "float32"))
    least = relax.Var("least", R.Tensor((), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [boxes, scores, most, overlap, least]):
        with bb.dataflow():
            y_all = bb.emit(
                relax.op.vision.all_class_non_max_suppression(boxes, scores, most, overlap, least)
            )
            y = bb.emit(relax.TupleGetItem(y_all, 0))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
boxes = np.array([[[0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]]], "float32")
scores = np.array([[[1024, 1536]]], "float32") / 2048
most = np.array(1, "int64")
overlap = np.array(1024, "float32") / 2048
least = np.array(0.0, "float32")
result = vm["main"](*map(tvm.runtime.tensor, (boxes, scores, most, overlap, least)))
found = [(each.shape, str(each.numpy().dtype)) for each in [result]]

expected = [((1, 3), "int64")]
print("expected:", expected)
print("actual:", found)
sys.exit(1 if found != expected else 0)
