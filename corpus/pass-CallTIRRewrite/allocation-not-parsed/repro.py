"""CallTIRRewrite makes TVMScript that does not parse: alloc_tensor has types as arguments

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import tvm
from tvm import relax
from tvm.script import relax as R


def program():
    x = relax.Var("x", R.Tensor((2,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.exp(x))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


# While the bug is there this raises, and Python exits with 1.
mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
with target:
    mod = relax.transform.LegalizeOps()(mod)
    mod = relax.transform.ToNonDataflow()(mod)
    mod = relax.transform.RemovePurityChecking()(mod)
    mod = relax.transform.CallTIRRewrite()(mod)
    text = mod.script(show_meta=False)
    text = mod.script(show_meta=True) if "metadata[" in text else text
    parsed = tvm.script.from_source(text)
    tvm.ir.assert_structural_equal(parsed, mod, map_free_vars=True)
