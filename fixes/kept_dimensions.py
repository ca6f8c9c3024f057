"""Reshapes that keep leading dimensions: only the others are put into one, and taken apart again.

TOPI counts through the whole tensor, whatever is kept. A symbolic dimension that is kept then
stands in the quotients and remainders by those behind it; where these are expressions such as
``m - 1``, flattening the buffer asks the analyzer about it, and a check of its own fails.
"""

from collections.abc import Sequence

from tvm import relax, te

from fixes import probes_of_lowerings as probes
from fixes import prover, tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

OPERATOR = "relax.reshape"


def _kept(old: Sequence[PrimExpr], new: Sequence[PrimExpr]) -> int:
    """How many dimensions are proved to be the same from the first on, before any other."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if not prover.equal(one, other):
            break
        count += 1
    return count


def _is_symbolic(dim: PrimExpr) -> bool:
    return tvm_api.as_int(dim) is None


def _is_expression(dim: PrimExpr) -> bool:
    return _is_symbolic(dim) and not tvm_api.is_variable(dim)


def _keeping(original: Legalization) -> Legalization:
    """``original``, but for reshapes that keep a symbol before expressions of others."""

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
    """``data``, of which the first ``kept`` dimensions are those of ``shape``, in this shape."""
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


FIX = Fix(
    name="kept_dimensions",
    operators=(OPERATOR,),
    fault=(
        "a reshape that keeps leading dimensions counts through all, and flattening its buffers"
        " fails where others are expressions of symbols"
    ),
    issue=None,
    parts=(Part("leading dimensions", lambda: not probes.reshapes_behind_a_symbol()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _keeping),),
)
