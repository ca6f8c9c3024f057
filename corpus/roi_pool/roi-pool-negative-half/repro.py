"""vision.roi_pool takes a corner of -0.5 for 0, not for -1

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x = relax.Var("x", R.Tensor((1, 1, 1, 3), "float32"))
    boxes = relax.Var("boxes", R.Tensor((1, 5), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, boxes]):
        with bb.dataflow():
            y = bb.emit(relax.op.vision.roi_pool(x, boxes, pooled_size=[1, 2], spatial_scale=0.5))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x = np.array([[[[1.0, 2.0, 3.0]]]], "float32")
boxes = np.array([[0.0, -1.0, 0.0, 4.0, 0.0]], "float32")
result = vm["main"](*map(tvm.runtime.tensor, (x, boxes)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 1, 1, 2), "float32"):
    print("expected:", ((1, 1, 1, 2), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.array([[[[1.0, 3.0]]]], "float64")
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
