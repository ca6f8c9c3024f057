"""Integers divided by 0, and the lowest one by -1.

The machine's division ends the process there. What NumPy gives is given: a quotient and a remainder
of 0 where the divisor is 0; of the lowest integer by -1, whose negation there is none of, the
integer itself and 0.
"""

from tvm import te, tirx

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.broadcast_elements import element
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

_DIVISIONS = {
    "relax.divide": tirx.truncdiv,
    "relax.floor_divide": tirx.floordiv,
    "relax.mod": tirx.truncmod,
    "relax.floor_mod": tirx.floormod,
}
OPERATORS = tuple(_DIVISIONS)


def _of_any_integers(original: Legalization) -> Legalization:
    """``original``, but for tensors of integers a division that is safe for all of them."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        shaped = all(
            tvm_api.is_tensor(one) and tvm_api.has_shape(one) for one in (*call.args, call)
        )
        if not shaped or "int" not in tvm_api.dtype_of(call):
            return original(builder, call)
        name, shape = str(call.op.name), tvm_api.shape_of(call)

        def compute(dividend: Tensor, divisor: Tensor, wanted: list[PrimExpr]) -> Tensor:
            def quotient(*at: PrimExpr) -> PrimExpr:
                operands = (element(one, at, list(wanted)) for one in (dividend, divisor))
                return _safe(name, *operands)

            return te.compute(tuple(wanted), quotient, name="quotient")

        hint = name.rpartition(".")[2]
        return builder.call_te(compute, *call.args, shape, primfunc_name_hint=hint)

    return lower


def _safe(name: str, dividend: PrimExpr, divisor: PrimExpr) -> PrimExpr:
    """The quotient or remainder, which is computed only where the machine can."""
    # A Select computes both operands, and the simplifier makes use of its condition within them: it
    # leaves nothing of a divisor that is replaced where it is 0.
    dtype = tvm_api.dtype_of(dividend)
    nothing = tirx.const(0, dtype)
    found = _DIVISIONS[name](dividend, divisor)
    if not dtype.startswith("uint"):
        # Not by equality: of an int32 and the lowest one the analyzer says that it never holds.
        largest = int(tirx.max_value(dtype).value)
        lowest = dividend < tirx.const(-largest, dtype)
        beyond = tirx.all(lowest, tirx.EQ(divisor, tirx.const(-1, dtype)))
        itself = nothing if "mod" in name else dividend
        found = tirx.if_then_else(beyond, itself, found)
    return tirx.if_then_else(tirx.EQ(divisor, nothing), nothing, found)


FIX = Fix(
    name="integer_division",
    operators=OPERATORS,
    fault="integers divided by 0, and the lowest one divided by -1, end the process (SIGFPE)",
    issue=None,
    parts=(Part("divisors", lambda: not probes.divides_by_anything(), deadly=True),),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, _of_any_integers) for name in OPERATORS),
)
