"""FoldConstant reads a constant of int32 sizes as int64 in tensor_to_shape

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program(s):
    s = relax.const(s, "int32")
    bb = relax.BlockBuilder()
    with bb.function("main", []):
        with bb.dataflow():
            t = bb.emit(relax.op.tensor_to_shape(s))
            y = bb.emit(relax.op.shape_to_tensor(t))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


s = np.array([2, 3, 4, 5], "int32")
mod = program(s)
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(
    relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target)), tvm.cpu()
)
result = vm["main"](*map(tvm.runtime.tensor, ()))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((4,), "int64"):
    print("expected:", ((4,), "int64"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("int64")
expected = np.array([2, 3, 4, 5], "int64")
# Integers are exact.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
