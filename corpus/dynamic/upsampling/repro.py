"""repeat, reshape and image.resize2d of m elements to 2048*m compile and are right

Exits with 1 while the bug is there and with 0 once it is gone. Gone with apache-tvm 0.27.0.post1.
Needs tvm, numpy and torch.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program():
    m = tirx.Var("m", "int64")
    x = relax.Var("x", R.Tensor((1, 2, 1, m), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            r = bb.emit(relax.op.repeat(x, axis=3, repeats=2048))
            e = bb.emit(relax.op.expand_dims(x, axis=[4]))
            bb_ = bb.emit(relax.op.broadcast_to(e, shape=relax.ShapeExpr([1, 2, 1, m, 2048])))
            f = bb.emit(relax.op.reshape(bb_, shape=relax.ShapeExpr([1, 2, 1, 2048 * m])))
            y = bb.emit(
                relax.op.image.resize2d(
                    x,
                    coordinate_transformation_mode="asymmetric",
                    method="nearest_neighbor",
                    rounding_method="floor",
                    size=relax.ShapeExpr([1, 2048 * m]),
                )
            )
            outputs = [bb.emit_output(r), bb.emit_output(f), bb.emit_output(y)]
        bb.emit_func_output(relax.Tuple(outputs))
    return bb.get()


def reference(x):
    """PyTorch, in float64."""
    x = torch.tensor(x.astype("float64"))
    r = x.repeat_interleave(2048, 3)
    e = x.reshape((1, 2, 1, 1, 1))
    bb_ = torch.broadcast_to(e, (1, 2, 1, 1, 2048))
    f = bb_.reshape((1, 2, 1, 2048))
    y = F.interpolate(x, (1, 2048), mode="nearest")
    return r.numpy()


mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
vm = relax.VirtualMachine(
    relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target)), tvm.cpu()
)
# m = 1
x = np.array([[[[2510]], [[-1224]]]], "float32") / 2048
# Compared is output 0 of 3.
result = vm["main"](tvm.runtime.tensor(x))
found = result[0].numpy()
if (found.shape, str(found.dtype)) != ((1, 2, 1, 2048), "float32"):
    print("expected:", ((1, 2, 1, 2048), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = reference(x)
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
