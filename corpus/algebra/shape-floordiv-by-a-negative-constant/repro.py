"""a shape of x % 2 // (-2) gives 0, not -1, at x = 1

This script needs tvm and numpy. It exits with 1 while the bug is there and with 0 once it is gone.
Seen with apache-tvm 0.27.0.post1.
"""

import sys

import numpy as np
import tvm
from tvm import relax, tirx

x = tirx.Var("x", "int64")
expression = tirx.FloorDiv(tirx.FloorMod(x, tirx.IntImm("int64", 2)), tirx.IntImm("int64", -2))
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
# A function of the sizes x that returns a shape of one dimension: the expression.
sizes = relax.Var("s", (getattr(relax, "ShapeStructInfo", None) or relax.ShapeType)([x]))
builder = relax.BlockBuilder()
with builder.function("main", [sizes]):
    builder.emit_func_output(relax.ShapeExpr([expression]))
vm = relax.VirtualMachine(relax.build(builder.get(), target), tvm.cpu())


def called(point, size):
    sizes = tvm.runtime.ShapeTuple(list(point))
    return int(list(vm["main"](sizes))[0])


for point, right, size in [((1,), -1, -1)]:
    got = called(point, size)
    if got != right:
        sys.exit(f"wrong: {got} at {point}, not {right}")
print("right")
