"""vision.roi_align of float16 gives float32, not float16

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x = relax.Var("x", R.Tensor((1, 1, 2, 2), "float16"))
    boxes = relax.Var("boxes", R.Tensor((1, 5), "float16"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, boxes]):
        with bb.dataflow():
            y = bb.emit(
                relax.op.vision.roi_align(
                    x, boxes, pooled_size=[1, 1], sample_ratio=2, spatial_scale=1.0
                )
            )
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x = np.array([[[[2510, -1224], [2858, 1659]]]], "float16") / 2048
boxes = np.array([[0.0, 0.0, 0.0, 1.0, 1.0]], "float16")
result = vm["main"](*map(tvm.runtime.tensor, (x, boxes)))
found = [(each.shape, str(each.numpy().dtype)) for each in [result]]

expected = [((1, 1, 1, 1), "float16")]
print("expected:", expected)
print("actual:", found)
sys.exit(1 if found != expected else 0)
