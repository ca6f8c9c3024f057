"""image.resize3d of cubic_exclude=1 takes the weights along the width for those along the depth

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x0 = relax.Var("x0", R.Tensor((1, 1, 2, 1, 1), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0]):
        with bb.dataflow():
            n0_0 = bb.emit(
                relax.op.image.resize3d(
                    x0, cubic_exclude=1, method="cubic", size=relax.ShapeExpr([1, 1, 1])
                )
            )
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x0 = np.array([[[[[1468]], [[2946]]]]], "float32") / 2048
result = vm["main"](tvm.runtime.tensor(x0))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 1, 1, 1, 1), "float32"):
    print("expected:", ((1, 1, 1, 1, 1), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.array([[[[[2207]]]]], "float64") / 2048
# Bound on the rounding in the program's own dtypes, the largest of all elements.
bound = 7.49e-05
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
