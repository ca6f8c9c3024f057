"""a reshape to sizes in a tensor fails to compile in the default pipeline of a CPU

Exits with 1 while the bug is there and with 0 once it is gone. Seen with apache-tvm 0.27.0.post1.
Needs tvm.
"""

import re
import sys

import tvm
from tvm import relax
from tvm.script import relax as R


def names(text, *terms):
    """True if text has one of terms as whole words, apart or together, in any case."""
    each = (r"[\W_]*".join(re.findall("[0-9A-Za-z]+", term)) for term in terms)
    return re.search(rf"(?i)(?<![0-9A-Za-z])(?:{'|'.join(each)})(?![0-9A-Za-z])", text)


def program():
    x = relax.Var("x", R.Tensor((4,), "float32"))
    s = relax.Var("s", R.Tensor((2,), "int64"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, s]):
        with bb.dataflow():
            t = bb.emit(relax.op.tensor_to_shape(s))
            y = bb.emit(relax.op.reshape(x, t))
            output = bb.emit_output(y)
        bb.emit_func_output(output)
    return bb.get()


def left_behind(mod):
    """The calls in mod whose operator has a legalization."""
    calls = []

    def visit(expr):
        if isinstance(expr, relax.Call) and isinstance(expr.op, tvm.ir.Op):
            if expr.op.get_attr("FLegalize") is not None:
                calls.append(expr)

    for function in mod.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return calls


try:
    mod = program()
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    with target:
        mod = relax.transform.LegalizeOps()(mod)
except Exception as error:
    said = f"{type(error).__name__}: {error}"
    # An error that says what is not supported is none that says nothing.
    if not names(said, "tensor_to_shape", "reshape") or not names(
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
calls = left_behind(mod)
for call in calls:
    print("left behind by LegalizeOps:", call)
sys.exit(1 if calls else 0)
