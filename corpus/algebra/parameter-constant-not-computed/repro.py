"""a parameter of 15 // 8 elements does not compile where the constant is not folded

This script needs tvm and numpy. It exits with 1 while the bug is there and with 0 once it is gone.
Seen with apache-tvm 0.27.0.post1.
"""

import re
import sys

import numpy as np
import tvm
from tvm import relax, tirx

x = tirx.Var("x", "int64")
expression = tirx.FloorDiv(tirx.IntImm("int64", 15), tirx.IntImm("int64", 8))
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
# A function of the sizes x and of a tensor of one dimension: the expression.
sizes = relax.Var("s", (getattr(relax, "ShapeStructInfo", None) or relax.ShapeType)([x]))
builder = relax.BlockBuilder()
tensor = relax.Var("t", (getattr(relax, "TensorStructInfo", None) or relax.TensorType)((expression,), "int8"))
with builder.function("main", [sizes, tensor]):
    builder.emit_func_output(relax.ShapeExpr([]))


def numbers(error):
    """The integers that an error tells, each by itself."""
    said = re.sub(r"(?s)\n+Error in pass: [^\n]*\nLocation \(TVMScript\):.*", "", str(error))
    return set(map(int, re.findall(r"(?<![\w.])-?\d+(?!\w|\.\d)", said)))


vm = relax.VirtualMachine(relax.build(builder.get(), target), tvm.cpu())


def called(point, size):
    sizes = tvm.runtime.ShapeTuple(list(point))
    return vm["main"](sizes, tvm.runtime.tensor(np.zeros(size, "int8")))


# The sizes, what the expression is then, and what the tensor has: another size has to be refused.
for point, right, size in [((0,), 1, 1), ((1,), 1, 1), ((2,), 1, 1), ((3,), 1, 1), ((4,), 1, 1), ((5,), 1, 1), ((6,), 1, 1), ((7,), 1, 1), ((0,), 1, 2), ((7,), 1, 0)]:
    try:
        called(point, size)
    except Exception as error:
        if size == right:
            sys.exit(f"wrong: at {point} a tensor of {size} is refused: {error}")
        compared = re.search(r"\((-?\d+) vs\. (-?\d+)\)", str(error))
        if compared and str(size) in compared.groups() and str(right) not in compared.groups():
            sys.exit(f"wrong: at {point} it is {right}, and is computed otherwise: {error}")
        if not {size, right} <= numbers(error):
            sys.exit(f"wrong: at {point}, not {right} and {size}, but: {error}")
    else:
        if size != right:
            sys.exit(f"wrong: at {point} it is {right}, and a tensor of {size} is accepted")
print("right")
