"""Slices to bounds that are symbolic.

TOPI does not know that a dimension is not negative. It asks of a bound such as ``2*m`` whether it
is, for then it is counted from the end, and that question becomes a part of the result's dimension
and of those of all that is computed of it, where FuseOps fails on it. Here symbols are sizes: what
is known of them is not asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvm import te, tirx

from fixes import probes_of_shapes as probes
from fixes import tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor
from fixes.tvm_api_shapes import fields_values, select, sizes_analyzer, variables

OPERATOR = "relax.strided_slice"


@dataclass(frozen=True, slots=True)
class Span:
    """What is taken of a dimension: ``size`` elements, each ``step`` after the last."""

    begin: PrimExpr
    step: int
    size: PrimExpr


def spans(call: Call) -> dict[int, Span] | None:
    """By axis what ``call``, a slice forwards that has a symbolic bound, takes; None of others.

    A symbol of a bound that is in no dimension of the data may be an input, and negative.
    """
    data, *lists = call.args
    written = all(hasattr(one, "fields") for one in lists)
    if not tvm_api.has_shape(data) or call.attrs.assume_inbound or not written:
        return None
    listed = [fields_values(one) for one in lists]
    dims = tvm_api.shape_of(data)
    axes, begin, end = ([*each] for each in listed[:3])
    steps = [tvm_api.as_int(one) for one in listed[3]] if listed[3:] else [1] * len(axes)
    symbolic = any(tvm_api.as_int(bound) is None for bound in (*begin, *end))
    if not symbolic or any(step is None or step < 1 for step in steps):
        return None
    sizes = [symbol for dim in dims for symbol in variables(dim)]
    asked = [symbol for bound in (*begin, *end) for symbol in variables(bound)]
    signed = [one for one in asked if not any(one.same_as(size) for size in sizes)]
    found = {}
    for axis, first, last, step in zip(axes, begin, end, steps, strict=True):
        at = int(tvm_api.as_int(axis) or 0) % len(dims)
        found[at] = _span((first, last), int(step or 1), dims[at], signed)
    return found


def sliced_dims(call: Call) -> list[PrimExpr] | None:
    """The dimensions of what ``call`` gives; None where ``spans`` says nothing of it."""
    found = spans(call)
    if found is None:
        return None
    dims = tvm_api.shape_of(call.args[0])
    return [found[axis].size if axis in found else dim for axis, dim in enumerate(dims)]


def _span(
    bounds: tuple[PrimExpr, PrimExpr], step: int, dim: PrimExpr, signed: Sequence[PrimExpr]
) -> Span:
    first, last = (_place(bound, dim, signed) for bound in bounds)
    analyzer = sizes_analyzer([first, last], signed)
    count = analyzer.simplify(last - first)
    if not analyzer.can_prove(count >= 0):
        count = tirx.max(count, tvm_api.integer(0))
    return Span(first, step, analyzer.simplify(tvm_api.floordiv(count + (step - 1), step)))


def _place(bound: PrimExpr, dim: PrimExpr, signed: Sequence[PrimExpr]) -> PrimExpr:
    """Which of 0 to ``dim`` a bound is, that is counted from the end if it is negative.

    The symbols in ``signed`` may be negative, all others are sizes.
    """
    analyzer = sizes_analyzer([bound, dim], signed)
    at = bound
    if not analyzer.can_prove(bound >= 0):
        behind = bound + dim
        negative = bool(analyzer.can_prove(bound < 0))
        at = behind if negative else select(bound < 0, behind, bound)
        at = tirx.max(at, tvm_api.integer(0))
    if not analyzer.can_prove(at <= dim):
        at = tirx.min(at, dim)
    return analyzer.simplify(at)


def _of_sizes(original: Legalization) -> Legalization:
    """``original``, but for slices forwards that have a symbolic bound."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        found = spans(call)
        if found is None:
            return original(builder, call)

        def compute(tensor: Tensor) -> Tensor:
            return _sliced(tensor, found)

        return builder.call_te(compute, call.args[0], primfunc_name_hint="strided_slice")

    return lower


def _sliced(data: Tensor, found: Mapping[int, Span]) -> Tensor:
    shape = [found[axis].size if axis in found else dim for axis, dim in enumerate(data.shape)]

    def element(*place: PrimExpr) -> PrimExpr:
        index = [
            found[axis].begin + at * found[axis].step if axis in found else at
            for axis, at in enumerate(place)
        ]
        return data(*index)

    return te.compute(shape, element, name="sliced")


FIX = Fix(
    name="symbolic_slices",
    operators=(OPERATOR,),
    fault=(
        "what is computed of a slice to a symbolic bound is not fused: its dimensions ask whether"
        " that is negative, and FuseOps fails"
    ),
    issue=None,
    parts=(Part("bounds", lambda: not probes.fuses_slices()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _of_sizes),),
)
