"""Reshapes that keep leading dimensions flatten and split only the others.

TOPI flattens the whole tensor. A kept symbolic dimension then occurs in quotients and remainders by
the dimensions behind it. If these are expressions such as ``m - 1``, flattening the buffer asks the
analyzer about them, and one of its internal checks fails.
"""

from collections.abc import Sequence

import tvm
from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/kept_dimensions.py")

OPERATOR = "relax.reshape"


def _kept(old: Sequence[PrimExpr], new: Sequence[PrimExpr]) -> int:
    """The number of leading dimensions that are proved equal."""
    count = 0
    for dim, other in zip(old, new, strict=False):
        if not prover.equal(dim, other):
            break
        count += 1
    return count


def _is_symbolic(dim: PrimExpr) -> bool:
    return tvm_api.as_int(dim) is None


def _is_expression(dim: PrimExpr) -> bool:
    return _is_symbolic(dim) and not tvm_api.is_variable(dim)


def _keeping(original: Legalization) -> Legalization:
    """``original``, except for reshapes that keep a symbol in front of other expressions."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, shape = call.args
        if not tvm_api.has_shape(data) or not isinstance(shape, relax.ShapeExpr):
            return original(builder, call)
        old, new = tvm_api.shape_of(data), list(shape.values)
        kept = _kept(old, new)
        others = [*old[kept:], *new[kept:]]
        if kept in (len(old), len(new)) or not any(map(_is_symbolic, old[:kept])):
            return original(builder, call)
        if not any(map(_is_expression, others)):
            return original(builder, call)

        def compute(tensor: Tensor) -> Tensor:
            return _reshaped(tensor, new, kept)

        return builder.call_te(compute, data, primfunc_name_hint="reshape")

    return lower


def _reshaped(data: Tensor, shape: Sequence[PrimExpr], kept: int) -> Tensor:
    """``data`` in ``shape``, with which it shares the first ``kept`` dimensions."""
    behind = list(data.shape)[kept:]

    def element(*place: PrimExpr) -> PrimExpr:
        at: PrimExpr = place[kept]
        for step, dim in zip(place[kept + 1 :], shape[kept + 1 :], strict=True):
            at = at * dim + step
        index = []
        for dim in reversed(behind[1:]):
            index.append(tvm_api.floormod(at, dim))
            at = tvm_api.floordiv(at, dim)
        return data(*place[:kept], at, *reversed(index))

    return te.compute(shape, element, name="reshaped")


def reshapes_behind_a_symbol() -> bool:
    """True if the kernel of a reshape that splits a dimension behind a symbolic one compiles."""
    b, m = tvm_api.shape_var("b"), tvm_api.shape_var("m")
    split = (b, 2, 3, tvm_api.floordiv(m - 1, 3))
    module = probes.program(lambda x, y: relax.op.reshape(y, split), (m,), (b, 2, m - 1))
    lowered = relax.transform.LegalizeOps()(module)
    kernels = {
        variable: function.with_attr("global_symbol", str(variable.name_hint))
        for variable, function in lowered.functions.items()
        if not isinstance(function, relax.Function)
    }
    try:
        tvm.compile(tvm.IRModule(kernels), "llvm")
    except tvm.error.InternalError:
        return False
    return bool(kernels)


FIX = Fix(
    name="kept_dimensions",
    operators=(OPERATOR,),
    fault=(
        "a reshape that keeps leading dimensions flattens them too, and flattening its buffers"
        " fails if other dimensions are expressions of symbols"
    ),
    issue=None,
    parts=(FaultPart("leading dimensions", lambda: not reshapes_behind_a_symbol()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _keeping),),
    after="shape_values",
    patch=(Wrapping(OPERATOR, _keeping),),
)
