"""a shape of 1 // y ends the process at y = 0

This script needs tvm and numpy. It exits with 1 while the bug is there and with 0 once it is gone.
Seen with apache-tvm 0.27.0.post1.
"""

import subprocess
import sys

import numpy as np
import tvm
from tvm import relax, tirx

if "--here" not in sys.argv:
    ended = subprocess.run([sys.executable, __file__, "--here"]).returncode
    print("the process ended with", ended)
    sys.exit(int(ended != 0))

y = tirx.Var("y", "int64")
expression = tirx.FloorDiv(tirx.IntImm("int64", 1), y)
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
# A function of the sizes y that returns a shape of one dimension: the expression.
sizes = relax.Var("s", (getattr(relax, "ShapeStructInfo", None) or relax.ShapeType)([y]))
builder = relax.BlockBuilder()
with builder.function("main", [sizes]):
    builder.emit_func_output(relax.ShapeExpr([expression]))
vm = relax.VirtualMachine(relax.build(builder.get(), target), tvm.cpu())


def called(point, size):
    sizes = tvm.runtime.ShapeTuple(list(point))
    return int(list(vm["main"](sizes))[0])


# At all of these a divisor is zero, or it overflows: an error is as good as any result.
for point, _, size in [((0,), 1, 1)]:
    try:
        called(point, size)
    except Exception as error:
        print(error)
print("right")
