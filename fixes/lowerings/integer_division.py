"""Integer division by 0, and of the lowest integer by -1.

The machine instruction ends the process. Here results are NumPy's: quotient and remainder by 0 are
0; the lowest integer by -1 gives itself, as its negation overflows, and remainder 0.
"""

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.broadcast_elements import element
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/integer_division.py")

_DIVISIONS = {
    "relax.divide": tirx.truncdiv,
    "relax.floor_divide": tirx.floordiv,
    "relax.mod": tirx.truncmod,
    "relax.floor_mod": tirx.floormod,
}
OPERATORS = tuple(_DIVISIONS)


def _of_any_integers(original: Legalization) -> Legalization:
    """``original``, except that tensors of integers use a division that is safe for all values."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        shaped = all(
            tvm_api.is_tensor(expr) and tvm_api.has_shape(expr) for expr in (*call.args, call)
        )
        if not shaped or "int" not in tvm_api.dtype_of(call):
            return original(builder, call)
        name, shape = str(call.op.name), tvm_api.shape_of(call)

        def compute(dividend: Tensor, divisor: Tensor, wanted: list[PrimExpr]) -> Tensor:
            def quotient(*at: PrimExpr) -> PrimExpr:
                operands = (element(operand, at, list(wanted)) for operand in (dividend, divisor))
                return _safe(name, *operands)

            return te.compute(tuple(wanted), quotient, name="quotient")

        hint = name.rpartition(".")[2]
        return builder.call_te(compute, *call.args, shape, primfunc_name_hint=hint)

    return lower


def _safe(name: str, dividend: PrimExpr, divisor: PrimExpr) -> PrimExpr:
    """The quotient or remainder, computed only where the machine can."""
    # A Select computes both operands, and the simplifier uses its condition within them: it would
    # undo the replacement of a divisor that is 0.
    dtype = tvm_api.dtype_of(dividend)
    nothing = tirx.const(0, dtype)
    result = _DIVISIONS[name](dividend, divisor)
    if not dtype.startswith("uint"):
        # Not an equality: the analyzer claims that no int32 equals the lowest one.
        largest = int(tirx.max_value(dtype).value)
        lowest = dividend < tirx.const(-largest, dtype)
        beyond = tirx.all(lowest, tirx.EQ(divisor, tirx.const(-1, dtype)))
        itself = nothing if "mod" in name else dividend
        result = tirx.if_then_else(beyond, itself, result)
    return tirx.if_then_else(tirx.EQ(divisor, nothing), nothing, result)


def divides_by_anything() -> bool:
    """True if division by 0, and of the lowest integer by -1, is computed; may kill TVM."""
    arrays = [np.array(values, "int32") for values in ([3, -(2**31)], [0, -1])]
    return all(
        probes.computes(
            probes.one_call(make, (2,), (2,), dtypes=("int32",) * 2), arrays, np.array(expected)
        )
        for make, expected in (
            (relax.op.divide, [0, -(2**31)]),
            (relax.op.floor_divide, [0, -(2**31)]),
            (relax.op.mod, [0, 0]),
            (relax.op.floor_mod, [0, 0]),
        )
    )


FIX = Fix(
    name="integer_division",
    operators=OPERATORS,
    fault="integer division by 0, and of the lowest integer by -1, ends the process (SIGFPE)",
    issue=None,
    parts=(FaultPart("divisors", lambda: not divides_by_anything(), deadly=True),),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, _of_any_integers) for name in OPERATORS),
    after="broadcasting",
    patch=tuple(Wrapping(name, _of_any_integers) for name in OPERATORS),
)
