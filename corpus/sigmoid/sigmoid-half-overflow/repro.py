"""sigmoid of float16 gives 0 from -11.1 down

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm, numpy and torch.
"""

import sys

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x0 = relax.Var("x0", R.Tensor((1,), "float16"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.sigmoid(x0))
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


def reference(x0):
    """PyTorch, in float64."""
    x0 = torch.tensor(x0.astype("float64"))
    n0_0 = torch.sigmoid(x0)
    return n0_0.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x0 = np.array([-11.5], "float16")
result = vm["main"](tvm.runtime.tensor(x0))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1,), "float16"):
    print("expected:", ((1,), "float16"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(x0)
# Bound on the rounding in the program's own dtypes, the largest of all elements.
bound = 9.92e-08
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
