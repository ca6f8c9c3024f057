"""ToMixedPrecision computes an integer convolution in float32 and keeps it in float16: wrong
integers

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
    data = relax.Var("data", R.Tensor((1, 1, 2), "int8"))
    weight = relax.Var("weight", R.Tensor((1, 1, 1), "int8"))
    bb = relax.BlockBuilder()
    with bb.function("main", [data, weight]):
        with bb.dataflow():
            convolved = bb.emit(relax.op.nn.conv1d_transpose(data, weight, out_dtype="int32"))
            output = bb.emit_output(convolved)
        bb.emit_func_output(output)
    return bb.get()


def reference(data, weight):
    """PyTorch, in int64."""
    data, weight = (torch.tensor(each.astype("int64")) for each in (data, weight))
    convolved = torch.conv_transpose1d(data, weight)
    return convolved.numpy().astype("int32").astype("int64")


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
with target:
    mod = relax.transform.ToMixedPrecision()(mod)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
data = np.array([[[100, 101]]], "int8")
weight = np.array([[[127]]], "int8")
result = vm["main"](*map(tvm.runtime.tensor, (data, weight)))
found = result.numpy()
if (found.shape, str(found.dtype)) != ((1, 1, 2), "int32"):
    print("expected:", ((1, 1, 2), "int32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("int64")
expected = reference(data, weight)
# Integers are exact.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
