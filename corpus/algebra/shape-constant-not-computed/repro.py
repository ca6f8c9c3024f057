"""a shape of 7 % -2 * 0 * 0 does not compile where the constant is not folded

This script needs tvm and numpy. It exits with 1 while the bug is there and with 0 once it is gone.
Seen with apache-tvm 0.27.0.post1.
"""

import sys

import numpy as np
import tvm
from tvm import relax, tirx

x = tirx.Var("x", "int64")
y = tirx.Var("y", "int64")
z = tirx.Var("z", "int64")
expression = tirx.Mul(tirx.Mul(tirx.FloorMod(tirx.IntImm("int64", 7), tirx.IntImm("int64", -2)), tirx.IntImm("int64", 0)), tirx.IntImm("int64", 0))
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
# A function of the sizes x, y, z that returns a shape of one dimension: the expression.
sizes = relax.Var("s", (getattr(relax, "ShapeStructInfo", None) or relax.ShapeType)([x, y, z]))
builder = relax.BlockBuilder()
with builder.function("main", [sizes]):
    builder.emit_func_output(relax.ShapeExpr([expression]))
vm = relax.VirtualMachine(relax.build(builder.get(), target), tvm.cpu())


def called(point, size):
    sizes = tvm.runtime.ShapeTuple(list(point))
    return int(list(vm["main"](sizes))[0])


for point, right, size in [((2, 3, 1), 0, 0), ((2, 4, 2), 0, 0), ((2, 5, 2), 0, 0), ((3, 3, 1), 0, 0), ((3, 4, 2), 0, 0), ((3, 6, 1), 0, 0), ((4, 3, 1), 0, 0), ((4, 4, 2), 0, 0), ((4, 6, 1), 0, 0), ((5, 3, 2), 0, 0), ((5, 4, 2), 0, 0), ((5, 6, 1), 0, 0), ((6, 3, 2), 0, 0), ((6, 5, 1), 0, 0), ((6, 6, 1), 0, 0), ((7, 3, 2), 0, 0), ((7, 5, 1), 0, 0), ((7, 6, 2), 0, 0), ((8, 3, 2), 0, 0), ((8, 5, 1), 0, 0), ((8, 6, 2), 0, 0), ((9, 4, 1), 0, 0), ((9, 5, 1), 0, 0), ((9, 6, 2), 0, 0)]:
    got = called(point, size)
    if got != right:
        sys.exit(f"wrong: {got} at {point}, not {right}")
print("right")
