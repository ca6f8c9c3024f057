"""FoldConstant keeps elementwise operators over symbolic shapes right

Exits with 1 while the bug is there and with 0 once it is gone. Gone with apache-tvm 0.27.0.post1.
Needs tvm and numpy.
"""

import sys

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.script import relax as R


def program():
    m = tirx.Var("m", "int64")
    x = relax.Var("x", R.Tensor((m, 4), "float32"))
    c = relax.Var("c", R.Tensor((1, 4), "float32"))
    d = relax.Var("d", R.Tensor((4,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, c, d]):
        with bb.dataflow():
            k_ = bb.emit(relax.op.add(c, d))
            s = bb.emit(relax.op.add(x, k_))
            f = bb.emit(
                relax.op.full(
                    dtype="float32",
                    fill_value=relax.const(2, "float32"),
                    shape=relax.ShapeExpr([m, 4]),
                )
            )
            g = bb.emit(relax.op.multiply(f, d))
            y = bb.emit(relax.op.multiply(s, g))
            sh = bb.emit(relax.op.shape_of(x))
            t = bb.emit(relax.op.shape_to_tensor(sh))
            w = bb.emit(relax.op.add(t, t))
            outputs = [bb.emit_output(y), bb.emit_output(w)]
        bb.emit_func_output(relax.Tuple(outputs))
    return bb.get()


c = np.array([[-2100, -2525, -439, 3086]], "float32") / 2048
d = np.array([130, 282, 3506, -1189], "float32") / 2048
mod = program()
target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
with target:
    mod = relax.transform.BindParams(
        "main", {"c": tvm.runtime.tensor(c), "d": tvm.runtime.tensor(d)}
    )(mod)
    mod = relax.transform.LegalizeOps()(mod)
    mod = relax.transform.FoldConstant()(mod)
vm = relax.VirtualMachine(relax.build(mod, target), tvm.cpu())
# m = 1
x = np.array([[2510, -1224, 2858, 1659]], "float32") / 2048
# Compared is output 0 of 2.
result = vm["main"](tvm.runtime.tensor(x))
found = result[0].numpy()
if (found.shape, str(found.dtype)) != ((1, 4), "float32"):
    print("expected:", ((1, 4), "float32"), "actual:", (found.shape, str(found.dtype)))
    sys.exit(1)
actual = found.astype("float64")
expected = np.array(
    [[0.033473968505859375, -0.4662008285522461, 9.905362129211426, -2.0161075592041016]], "float64"
)
# All of it can be represented exactly, so that nothing is rounded.
bound = 0
error = np.abs(actual - expected)
wrong = ~(error <= bound)

print("expected:", expected, sep="\n")
print("actual:", actual, sep="\n")
print(f"largest error: {error.max(initial=0):.3g}; bound: {bound}")
sys.exit(1 if wrong.any() else 0)
