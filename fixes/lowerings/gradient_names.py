"""Calls of functions of TIR that have a gradient of their own, where no gradient is asked for.

The pass Gradient makes them plain calls. A program that goes to ``relax.build`` without that pass
keeps them, and nothing lowers them. The name of the gradient changes nothing of the call's result.
"""

import tvm
from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, legalization
from relaxcheck.fixes.framework.patch import NewFile, Override
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr

UPSTREAM = NewFile("relax/transform/legalize_ops/gradient_names.py")

OPERATOR = "relax.call_tir_with_grad"


def _without_gradient(builder: BlockBuilder, call: Call) -> Expr:
    """Lower to the same call by ``call_tir``."""
    plain = tvm.ir.Op.get("relax.call_tir")
    return relax.Call(plain, list(call.args), None, [tvm_api.type_of(call)])


def program() -> tvm.IRModule:
    """Twice a vector, by a function that has a gradient."""
    builder = relax.BlockBuilder()
    (x,) = probes.inputs([(3,)])
    placeholder = te.placeholder((tvm_api.integer(3),), "float32", name="x")
    twice = te.compute(placeholder.shape, lambda i: placeholder(i) + placeholder(i))
    function = te.create_prim_func([placeholder, twice]).without_attr("global_symbol")
    with builder.function("main", [x]):
        with builder.dataflow():
            called = builder.add_func(function, "twice")
            call = relax.op.call_tir_with_grad(called, [x], tvm_api.type_of(x), "gradient")
            result = builder.emit_output(builder.emit(call))
        builder.emit_func_output(result)
    return builder.get()


def is_lowered() -> bool:
    """True if a call with the name of a gradient is lowered to one without."""
    lowered = relax.transform.LegalizeOps()(program())
    return [call.op.name for call in probes.calls(lowered)] == ["relax.call_tir"]


FIX = Fix(
    name="gradient_names",
    operators=(OPERATOR,),
    fault="call_tir_with_grad is not lowered where the pass Gradient did not run",
    issue=None,
    parts=(FaultPart("without gradient", lambda: not is_lowered()),),
    attributes=legalization(OPERATOR, _without_gradient),
    after="unlowered",
    patch=(
        Override(
            (OPERATOR,), LEGALIZE, _without_gradient, wraps=False, registered=False, shapeless=True
        ),
    ),
)
