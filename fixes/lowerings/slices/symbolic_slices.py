"""Slices to symbolic bounds.

TOPI does not know that dimensions are nonnegative. It adds a condition to a bound such as ``2*m``,
in case it is negative and counts from the end. The condition becomes part of the result's
dimension, and of all dimensions computed from it; FuseOps fails on it. Here symbols are sizes, and
conditions that are decided by that are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor
from relaxcheck.fixes.tvm_api.shapes import fields_values, select, sizes_analyzer, variables

UPSTREAM = NewFile("relax/transform/legalize_ops/symbolic_slices.py")

OPERATOR = "relax.strided_slice"


@dataclass(frozen=True, slots=True)
class Span:
    """The part of a dimension that a slice takes: ``size`` elements, ``step`` apart."""

    begin: PrimExpr
    step: int
    size: PrimExpr


def spans(call: Call) -> dict[int, Span] | None:
    """The spans that ``call`` takes, by axis; None unless it is a forward slice with a symbolic
    bound.

    A symbol that occurs in a bound, but in no dimension of the data, may be an input and negative.
    """
    data, *lists = call.args
    written = all(hasattr(operand, "fields") for operand in lists)
    if not tvm_api.has_shape(data) or call.attrs.assume_inbound or not written:
        return None
    listed = [fields_values(operand) for operand in lists]
    dims = tvm_api.shape_of(data)
    axes, begin, end = ([*each] for each in listed[:3])
    steps = [tvm_api.as_int(stride) for stride in listed[3]] if listed[3:] else [1] * len(axes)
    symbolic = any(tvm_api.as_int(bound) is None for bound in (*begin, *end))
    if not symbolic or any(step is None or step < 1 for step in steps):
        return None
    sizes = [symbol for dim in dims for symbol in variables(dim)]
    asked = [symbol for bound in (*begin, *end) for symbol in variables(bound)]
    signed = [bound for bound in asked if not any(bound.same_as(size) for size in sizes)]
    by_axis = {}
    for axis, first, last, step in zip(axes, begin, end, steps, strict=True):
        at = int(tvm_api.as_int(axis) or 0) % len(dims)
        by_axis[at] = _span((first, last), int(step or 1), dims[at], signed)
    return by_axis


def sliced_dims(call: Call) -> list[PrimExpr] | None:
    """The dimensions of the result of ``call``; None where ``spans`` is None."""
    by_axis = spans(call)
    if by_axis is None:
        return None
    dims = tvm_api.shape_of(call.args[0])
    return [by_axis[axis].size if axis in by_axis else dim for axis, dim in enumerate(dims)]


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
    """The position from 0 to ``dim`` of a bound, which counts from the end if it is negative.

    Symbols in ``signed`` may be negative; all others are sizes.
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
    """``original``, except for forward slices with a symbolic bound."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        by_axis = spans(call)
        if by_axis is None:
            return original(builder, call)

        axes, steps = list(by_axis), [span.step for span in by_axis.values()]

        def compute(tensor: Tensor, begins: Sequence[Any], sizes: Sequence[Any]) -> Tensor:
            own = map(Span, begins, steps, sizes)
            return _sliced(tensor, dict(zip(axes, own, strict=True)))

        # The new function has symbols of its own, by which arguments are expressed.
        begins = [span.begin for span in by_axis.values()]
        sizes = [span.size for span in by_axis.values()]
        hint = "strided_slice"
        return builder.call_te(compute, call.args[0], begins, sizes, primfunc_name_hint=hint)

    return lower


def _sliced(data: Tensor, by_axis: Mapping[int, Span]) -> Tensor:
    shape = [by_axis[axis].size if axis in by_axis else dim for axis, dim in enumerate(data.shape)]

    def element(*place: PrimExpr) -> PrimExpr:
        index = [
            by_axis[axis].begin + at * by_axis[axis].step if axis in by_axis else at
            for axis, at in enumerate(place)
        ]
        return data(*index)

    return te.compute(shape, element, name="sliced")


def fuses_slices() -> bool:
    """True if a program that computes on a slice to a symbolic bound is fused and compiles."""
    m = tvm_api.shape_var("m")
    builder = relax.BlockBuilder()
    (x,) = probes.inputs([(2 * m,)])
    with builder.function("main", [x]):
        with builder.dataflow():
            # With 2*m - 1 elements FuseTIR of 0.26 fails for another reason.
            sliced = builder.emit(relax.op.strided_slice(x, [0], [1], [2 * m], [2]))
            sliced = builder.emit(relax.op.negative(builder.emit(relax.op.abs(sliced))))
            result = builder.emit_output(sliced)
        builder.emit_func_output(result)
    lowered_module = relax.transform.LegalizeOps()(builder.get())
    try:
        annotated = relax.transform.AnnotateTIROpPattern()(lowered_module)
        # The one fails since 0.26, the other in 0.25.
        relax.transform.FuseTIR()(relax.transform.FuseOps()(annotated))
    except Exception:
        return False
    return True


FIX = Fix(
    name="symbolic_slices",
    operators=(OPERATOR,),
    fault=(
        "operations on a slice to a symbolic bound are not fused: its dimensions contain a"
        " condition on the bound's sign, and FuseOps fails"
    ),
    issue=None,
    parts=(FaultPart("bounds", lambda: not fuses_slices()),),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _of_sizes),),
    after="far_ends",
    patch=(Wrapping(OPERATOR, _of_sizes),),
)
