"""grad.take_backward along axis -1 gives gradients to other elements than were taken

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
    x0 = relax.Var("x0", R.Tensor((2, 2), "float32"))
    x1 = relax.Var("x1", R.Tensor((2, 1), "float32"))
    x2 = relax.Var("x2", R.Tensor((1,), "int64"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1, x2]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.grad.take_backward(x1, x0, x2, axis=-1))
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


def reference(x0, x1, x2):
    """PyTorch, in float64."""
    x0, x1 = (torch.tensor(each.astype("float64")) for each in (x0, x1))
    x2 = torch.tensor(x2.astype("int64"))
    n0_0_at = x0.clone().requires_grad_()
    (n0_0,) = torch.autograd.grad(n0_0_at.index_select(1, x2), n0_0_at, x1)
    return n0_0.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
x0 = np.array([[1468, 2946], [2557, 239]], "float32") / 2048
x1 = np.array([[1386], [-2716]], "float32") / 2048
x2 = np.array([0], "int64")
result = vm["main"](*map(tvm.runtime.tensor, (x0, x1, x2)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((2, 2), "float32"):
    print("expected:", ((2, 2), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(x0, x1, x2)
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
