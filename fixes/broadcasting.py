"""Broadcasting to a shape where run time tells which dimensions are 1.

TOPI reads one element along a dimension only where it is 1 when the function is compiled. Of
``(n,)`` broadcast to ``(3,)`` it reads three, which are not there where n is 1.
"""

from collections.abc import Sequence

from tvm import te

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.broadcast_elements import all_seen, element
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor


def _at_run_time(original: Legalization) -> Legalization:
    """``original``, but for what may turn out to be broadcast along a symbolic dimension."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data = call.args[0]
        if not all(tvm_api.is_tensor(one) and tvm_api.has_shape(one) for one in (data, call)):
            return original(builder, call)
        have, want = tvm_api.shape_of(data), tvm_api.shape_of(call)
        fixed = zip(have, want[len(want) - len(have) :], strict=True)
        if all(tvm_api.as_int(one) == 1 or all_seen([one], [other]) for one, other in fixed):
            return original(builder, call)

        def compute(tensor: Tensor, shape: Sequence[PrimExpr]) -> Tensor:
            return te.compute(
                tuple(shape), lambda *at: element(tensor, at, list(shape)), name="broadcast_to"
            )

        return builder.call_te(compute, data, want, primfunc_name_hint="broadcast_to")

    return lower


FIX = Fix(
    name="broadcasting",
    operators=("relax.broadcast_to",),
    fault="what a symbolic dimension that is 1 at run time is broadcast to is read out of bounds",
    issue=None,
    parts=(Part("symbols", lambda: not probes.broadcasts_symbols()),),
    attributes=(OperatorAttribute("relax.broadcast_to", LEGALIZE, _at_run_time),),
)
