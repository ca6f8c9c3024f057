"""Tensors that have a static dimension 0, of which nothing is computed.

TOPI divides by the dimension, takes remainders of it, wants it to be 1 at least or the places where
it splits to ascend, while it makes the lowered function. Where a result has no element there is
nothing to compute, and a mean, a variance or a deviation of no floats is NaN.
"""

from math import nan
from typing import Any

from tvm import relax, topi

from fixes import probes_of_lowerings as probes
from fixes import tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor


def _of_no_elements(original: Legalization) -> Legalization:
    """``original``, but a function that reads nothing where there is nothing to compute.

    The tensor stays an argument: of constants alone FoldConstant would make another constant, and
    one without elements cannot be loaded.
    """

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        type_ = tvm_api.type_of(call)
        shapes = [_dims(one) for one in getattr(type_, "fields", [type_])]
        undefined = str(call.op.name) in _MEANS and "float" in tvm_api.dtype_of(call)
        nothing = undefined and _is_empty(_dims(tvm_api.type_of(call.args[0])))
        if not nothing and not all(map(_is_empty, shapes)):
            return original(builder, call)
        dtype = tvm_api.dtype_of(call.args[0])

        def compute(tensor: Tensor) -> Tensor | list[Tensor]:
            filled = [topi.full(one, dtype, 0 if _is_empty(one) else nan) for one in shapes]
            return filled if hasattr(type_, "fields") else filled[0]

        name = str(call.op.name).rpartition(".")[2]
        return builder.call_te(compute, call.args[0], primfunc_name_hint=name)

    return lower


def _dims(type_: Any) -> list[PrimExpr]:
    """The dimensions of a tensor's type; none where they are not known."""
    shape = getattr(type_, "shape", None)
    return list(shape.values) if isinstance(shape, relax.ShapeExpr) else []


def _is_empty(dims: list[PrimExpr]) -> bool:
    return 0 in map(tvm_api.as_int, dims)


_MEANS = ("relax.mean", "relax.variance", "relax.std")

OPERATORS = (*_MEANS, "relax.split", "relax.nn.pad", "relax.gather_elements")

FIX = Fix(
    name="empty_tensors",
    operators=OPERATORS,
    fault=(
        "split, gather_elements, circular padding, and a mean, variance or deviation over it fail"
        " where a static dimension is 0"
    ),
    issue=None,
    parts=(
        Part("means", lambda: not probes.lowers_means_of_nothing()),
        Part("splits", lambda: not probes.splits_nothing()),
        Part("indices", lambda: not probes.gathers_nothing()),
        Part("circular pads", lambda: not probes.pads_nothing()),
    ),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, _of_no_elements) for name in OPERATORS),
)
