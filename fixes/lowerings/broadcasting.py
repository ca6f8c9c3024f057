"""Broadcasting to a shape when only run time shows which dimensions are 1.

TOPI repeats an element along a dimension only if that is 1 at compile time. For ``(n,)`` broadcast
to ``(3,)`` it reads three elements, out of bounds if n is 1.
"""

from collections.abc import Sequence

import numpy as np
from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.broadcast_elements import all_seen, element
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/broadcasting.py")


def _at_run_time(original: Legalization) -> Legalization:
    """``original``, except where a symbolic dimension may turn out to be broadcast."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data = call.args[0]
        if not all(tvm_api.is_tensor(expr) and tvm_api.has_shape(expr) for expr in (data, call)):
            return original(builder, call)
        have, want = tvm_api.shape_of(data), tvm_api.shape_of(call)
        fixed = zip(have, want[len(want) - len(have) :], strict=True)
        if all(tvm_api.as_int(dim) == 1 or all_seen([dim], [other]) for dim, other in fixed):
            return original(builder, call)

        def compute(tensor: Tensor, shape: Sequence[PrimExpr]) -> Tensor:
            return te.compute(
                tuple(shape), lambda *at: element(tensor, at, list(shape)), name="broadcast_to"
            )

        return builder.call_te(compute, data, want, primfunc_name_hint="broadcast_to")

    return lower


def broadcasts_symbols() -> bool:
    """True if the single element of a symbolic dimension is broadcast to three."""
    n = tvm_api.shape_var("n")
    call = probes.one_call(lambda x: relax.op.broadcast_to(x, (3,)), (n,))
    return probes.computes(call, [np.array([2], "float32")], np.full(3, 2))


FIX = Fix(
    name="broadcasting",
    operators=("relax.broadcast_to",),
    fault="broadcasting a symbolic dimension that is 1 at run time reads out of bounds",
    issue=None,
    parts=(FaultPart("symbols", lambda: not broadcasts_symbols()),),
    attributes=(OperatorAttribute("relax.broadcast_to", LEGALIZE, _at_run_time),),
    after="special_values",
    patch=(Wrapping("relax.broadcast_to", _at_run_time),),
)
