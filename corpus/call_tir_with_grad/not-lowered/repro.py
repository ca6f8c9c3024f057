"""call_tir_with_grad is not supported where the pass Gradient did not run

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import tvm
from tvm import relax, te, tirx
from tvm.script import relax as R


def program():
    x0 = relax.Var("x0", R.Tensor((1,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0]):
        with bb.dataflow():
            tir_x = te.placeholder([tirx.IntImm("int64", 1)], "float32", name="x")
            result0 = te.compute(tir_x.shape[::-1], lambda *i: tir_x(*i[::-1]))
            tir = bb.add_func(
                te.create_prim_func([tir_x, result0]).without_attr("global_symbol"), "turned"
            )
            n0_0 = bb.emit(
                relax.op.call_tir_with_grad(tir, [x0], [R.Tensor((1,), "float32")], "test.gradient")
            )
            output = bb.emit_output(n0_0)
        bb.emit_func_output(output)
    return bb.get()


# While the bug is there this raises, and Python exits with 1.
mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
relax.build(mod, target)
