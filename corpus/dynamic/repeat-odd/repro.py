"""RewriteDataflowReshape fails on a repeat of 2*m + 1 elements

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program():
    m = tirx.Var("m", "int64")
    x = relax.Var("x", R.Tensor((4, 2 * m + 1), "float32"))
    z = relax.Var("z", R.Tensor((m,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, z]):
        with bb.dataflow():
            y = bb.emit(relax.op.repeat(x, axis=1, repeats=2))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


# While the bug is there this raises, and Python exits with 1.
mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
relax.build(mod, target)
