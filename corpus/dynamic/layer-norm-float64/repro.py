"""nn.layer_norm of float64 is not supported

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program():
    m = tirx.Var("m", "int64")
    x = relax.Var("x", R.Tensor((m, 4), "float64"))
    g = relax.Var("g", R.Tensor((4,), "float64"))
    bt = relax.Var("bt", R.Tensor((4,), "float64"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, g, bt]):
        with bb.dataflow():
            y = bb.emit(relax.op.nn.layer_norm(x, g, bt, axes=[-1]))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


# While the bug is there this raises, and Python exits with 1.
mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
relax.build(mod, target)
