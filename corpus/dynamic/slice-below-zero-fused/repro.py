"""a strided_slice to m - 2 that is fused with nn.relu does not compile before TVM 0.27

Exits with 1 while the bug is there and with 0 once it is gone. Gone with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program():
    m = tirx.Var("m", "int64")
    x = relax.Var("x", R.Tensor((m,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            s = bb.emit(relax.op.strided_slice(x, axes=[0], begin=[0], end=[m - 2], strides=[1]))
            y = bb.emit(relax.op.nn.relu(s))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(
    relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target)), tvm.cpu()
)
# m = 2
x = np.array([2510, -1224], "float32") / 2048
result = vm["main"](tvm.runtime.tensor(x))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((0,), "float32"):
    print("expected:", ((0,), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.zeros((0,), "float64")
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
