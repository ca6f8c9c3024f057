"""call_tir_inplace for opencl raises that reduction block vars do not index the output buffers

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import re
import sys

import tvm
from tvm import relax
from tvm.script import relax as R
from tvm.script import tirx as T


def names(text, *terms):
    """True if text has one of terms as whole words, apart or together, in any case."""
    each = (r"[\W_]*".join(re.findall("[0-9A-Za-z]+", term)) for term in terms)
    return re.search(rf"(?i)(?<![0-9A-Za-z])(?:{'|'.join(each)})(?![0-9A-Za-z])", text)


def program():
    x0 = relax.Var("x0", R.Tensor((3, 4), "float32"))
    x1 = relax.Var("x1", R.Tensor((3, 4), "float32"))
    x2 = relax.Var("x2", R.Tensor((3, 4), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x0, x1, x2]):
        with bb.dataflow():
            n0_0 = bb.emit(relax.op.maximum(x0, x2))
            @T.prim_func(private=True, s_tir=True)
            def tir(x_handle: T.handle, y_handle: T.handle):
                x = T.match_buffer(x_handle, (T.int64(3), T.int64(4)), "float32")
                y = T.match_buffer(y_handle, (T.int64(3), T.int64(4)), "float32")
                for i0, i1 in T.grid(T.int64(3), T.int64(4)):
                    with T.sblock("subtract_x"):
                        v0, v1 = T.axis.remap("SS", [i0, i1])
                        x[v0, v1] = x[v0, v1] - y[v0, v1]
            tir = bb.add_func(tir, "difference")
            n0_1 = bb.emit(
                relax.op.call_tir_inplace(tir, [n0_0, x1], [0], [R.Tensor((3, 4), "float32")])
            )
            output = bb.emit_output(n0_1)
        bb.emit_func_output(output)
    return bb.get()


try:
    mod = program()
    target = tvm.target.Target(
        {"kind": "opencl"}, host=tvm.target.Target({"kind": "llvm", "opt-level": 0})
    )
    relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target))
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "maximum", "call_tir_inplace") or not names(
        said,
        "not supported",
        "not implemented",
        "unsupported",
        "NotImplementedError",
        "only support",
        "only supports",
        "cannot be lowered",
    ):
        raise
    print("refused clearly:", said)
    sys.exit(0)
