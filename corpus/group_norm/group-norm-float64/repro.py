"""nn.group_norm of float64 is not supported

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x0 = relax.Var("x0", R.Tensor((2, 3, 4), "float64"))
    x1 = relax.Var("x1", R.Tensor((3,), "float64"))
    x2 = relax.Var("x2", R.Tensor((3,), "float64"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1, x2]):
        with bb.dataflow():
            n0_0 = bb.emit(
                relax.op.nn.group_norm(x0, x1, x2, axes=[2], channel_axis=1, num_groups=1)
            )
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


# While the bug is there this raises, and Python exits with 1.
mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
relax.build(mod, target)
