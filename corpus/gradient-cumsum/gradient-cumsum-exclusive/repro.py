"""an exclusive cumsum gives the gradient of an inclusive one

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x0 = relax.Var("x0", R.Tensor((1,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.cumsum(x0, exclusive=True))
            n1_1 = bb.emit(relax.op.sum(n0_0))
            output = bb.emit_output(n1_1)
        bb.emit_func_output(output)
    return bb.get()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
with target:
    mod = relax.transform.Gradient("main", [mod["main"].params[0]])(mod)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x0 = np.array([1.0], "float32")
result = vm["main_adjoint"](tvm.runtime.tensor(x0))[1][0]
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1,), "float32"):
    print("expected:", ((1,), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.array([0.0], "float64")
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
