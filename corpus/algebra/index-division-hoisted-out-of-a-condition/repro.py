"""CommonSubexprElim takes 1 // x out of its condition, and the kernel ends the process

This script needs tvm and numpy. It exits with 1 while the bug is there and with 0 once it is gone.
Seen with apache-tvm 0.27.0.post1.
"""

import subprocess
import sys

import numpy as np
import tvm
from tvm import tirx

if "--here" not in sys.argv:
    ended = subprocess.run([sys.executable, __file__, "--here"]).returncode
    print("the process ended with", ended)
    sys.exit(int(ended != 0))

x = tirx.Var("x", "int32")
expression = tirx.if_then_else(tirx.EQ(x, tirx.IntImm("int32", 0)), tirx.IntImm("int32", 0), tirx.FloorDiv(tirx.IntImm("int32", 1), x))
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
out = tirx.decl_buffer((4,), "int64", "out")
table = tirx.decl_buffer((2,), "int64", "table")
point = (tirx.Cast("int64", x))
body = tirx.BufferStore(out, tirx.BufferLoad(table, [expression]), [point])
backwards = tirx.BufferLoad(table, [tirx.Sub(tirx.IntImm("int32", 1), expression)])
body = tirx.SeqStmt([body, tirx.BufferStore(out, backwards, [point + 2])])
body = tirx.For(x, tirx.IntImm("int32", 0), tirx.IntImm("int32", 2), tirx.ForKind.SERIAL, body)
main = tirx.PrimFunc([table, out], body)
main = main.with_attr("global_symbol", "main").with_attr("tirx.noalias", True)
compiled = tvm.compile(tvm.IRModule({"main": main}), target)

NOTHING = -4611686018427387905
for n, right in [(0, [0, 1, 1, 0])]:
    arrays = []
    arrays.append(np.arange(2, dtype="int64"))
    tensors = [tvm.runtime.tensor(each) for each in (*arrays, np.full(4, NOTHING, "int64"))]
    compiled["main"](*tensors)
    got = tensors[-1].numpy().tolist()
    if got != right:
        sys.exit(f"wrong:\n{got}, and should be\n{right}")
print("right")
