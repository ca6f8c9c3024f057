"""a new tensor of x - 1 elements raises std::bad_alloc at x = 0

This script needs tvm and numpy. It exits with 1 while the bug is there and with 0 once it is gone.
Seen with apache-tvm 0.27.0.post1.
"""

import re
import sys

import numpy as np
import tvm
from tvm import relax, tirx

x = tirx.Var("x", "int64")
expression = tirx.Sub(x, tirx.IntImm("int64", 1))
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
# A function of the sizes x that makes a tensor of one dimension: the expression.
sizes = relax.Var("s", (getattr(relax, "ShapeStructInfo", None) or relax.ShapeType)([x]))
builder = relax.BlockBuilder()
with builder.function("main", [sizes]):
    made = relax.op.builtin.alloc_tensor(relax.ShapeExpr([expression]), "int8", 0)
    builder.emit_func_output(builder.emit(made))


def numbers(error):
    """The integers that an error tells, each by itself."""
    said = re.sub(r"(?s)\n+Error in pass: [^\n]*\nLocation \(TVMScript\):.*", "", str(error))
    return set(map(int, re.findall(r"(?<![\w.])-?\d+(?!\w|\.\d)", said)))


# A size never above a negative number may be refused here, by an error that tells one such.
try:
    executable = relax.build(builder.get(), target)
except Exception as error:
    if not any(-1 <= one < 0 for one in numbers(error)):
        sys.exit(f"wrong: it is never above -1, and all that is said: {error}")
    print("right: it is refused")
    sys.exit()
vm = relax.VirtualMachine(executable, tvm.cpu())


def called(point, size):
    sizes = tvm.runtime.ShapeTuple(list(point))
    return int(vm["main"](sizes).shape[0])


# It is negative at all of these: that has to be an error, which says so.
for point, right, _ in [((0,), -1, -1)]:
    try:
        got = called(point, right)
    except Exception as error:
        if right not in numbers(error):
            sys.exit(f"wrong: at {point} it is {right}, and all that is said: {error}")
    else:
        sys.exit(f"wrong: at {point} it is {right}, and the tensor has {got}")
print("right")
