"""a kernel that loads from (1 - x) // 2 reads at -1, not at 0, with x = 1

This script needs tvm and numpy. It exits with 1 while the bug is there and with 0 once it is gone.
Seen with apache-tvm 0.27.0.post1.
"""

import sys

import numpy as np
import tvm
from tvm import tirx

x = tirx.Var("x", "int32")
expression = tirx.FloorDiv(tirx.Sub(tirx.IntImm("int32", 1), x), tirx.IntImm("int32", 2))
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
out = tirx.decl_buffer((3,), "int64", "out")
table = tirx.decl_buffer((2,), "int64", "table")
point = (tirx.Cast("int64", x))
body = tirx.BufferStore(out, tirx.BufferLoad(table, [tirx.Sub(expression, tirx.IntImm("int32", -1))]), [point])
body = tirx.For(x, tirx.IntImm("int32", 0), tirx.IntImm("int32", 3), tirx.ForKind.SERIAL, body)
main = tirx.PrimFunc([table, out], body)
main = main.with_attr("global_symbol", "main").with_attr("tirx.noalias", True)
compiled = tvm.compile(tvm.IRModule({"main": main}), target)

NOTHING = -4611686018427387905
for n, right in [(0, [1, 1, 0])]:
    arrays = []
    arrays.append(np.arange(2, dtype="int64"))
    tensors = [tvm.runtime.tensor(each) for each in (*arrays, np.full(3, NOTHING, "int64"))]
    compiled["main"](*tensors)
    got = tensors[-1].numpy().tolist()
    if got != right:
        sys.exit(f"wrong:\n{got}, and should be\n{right}")
print("right")
