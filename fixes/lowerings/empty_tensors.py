"""Operators on tensors with a static dimension 0.

While it builds the lowered function, TOPI divides by the dimension, takes remainders of it,
requires it to be at least 1, or requires split points to ascend. A result without elements needs no
computation; the mean, variance and deviation of no floats are NaN.
"""

from math import nan
from typing import Any

from tvm import relax, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/empty_tensors.py")


def _of_no_elements(original: Legalization) -> Legalization:
    """``original``, except that nothing is read where nothing is computed.

    The tensor stays an argument: FoldConstant would fold a call without arguments to a constant,
    and executables with an empty constant cannot be loaded.
    """

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        type_ = tvm_api.type_of(call)
        shapes = [_dims(field) for field in getattr(type_, "fields", [type_])]
        undefined = str(call.op.name) in _MEANS and "float" in tvm_api.dtype_of(call)
        nothing = undefined and _is_empty(_dims(tvm_api.type_of(call.args[0])))
        if not nothing and not all(map(_is_empty, shapes)):
            return original(builder, call)
        dtype = tvm_api.dtype_of(call.args[0])

        def compute(tensor: Tensor) -> Tensor | list[Tensor]:
            filled = [topi.full(shape, dtype, 0 if _is_empty(shape) else nan) for shape in shapes]
            return filled if hasattr(type_, "fields") else filled[0]

        name = str(call.op.name).rpartition(".")[2]
        return builder.call_te(compute, call.args[0], primfunc_name_hint=name)

    return lower


def _dims(type_: Any) -> list[PrimExpr]:
    """The dimensions of a tensor type; empty if unknown."""
    shape = getattr(type_, "shape", None)
    return list(shape.values) if isinstance(shape, relax.ShapeExpr) else []


def _is_empty(dims: list[PrimExpr]) -> bool:
    return 0 in map(tvm_api.as_int, dims)


_MEANS = ("relax.mean", "relax.variance", "relax.std")

OPERATORS = (*_MEANS, "relax.split", "relax.nn.pad", "relax.gather_elements")


def lowers_means_of_nothing() -> bool:
    """True if a mean, variance and deviation over a static dimension 0 are lowered."""
    return all(
        _is_lowered(lambda x, operator=operator: operator(x, 0), (0, 3))
        for operator in (relax.op.mean, relax.op.variance, relax.op.std)
    )


def splits_nothing() -> bool:
    """True if the split of a static dimension 0 is lowered."""
    return _is_lowered(lambda x: relax.op.split(x, 2, 0), (0, 3))


def gathers_nothing() -> bool:
    """True if a gather of no indices is lowered."""
    module = probes.program(
        lambda x, at: relax.op.gather_elements(x, at, 1),
        (2, 3),
        (2, 0),
        dtypes=("float32", "int64"),
    )
    return probes.goes_through(relax.transform.LegalizeOps(), module)


def pads_nothing() -> bool:
    """True if circular padding of a tensor with a static dimension 0 is lowered."""
    return _is_lowered(lambda x: relax.op.nn.pad(x, (0, 0, 0, 0), "circular"), (2, 0))


def _is_lowered(make: probes.Make, shape: probes.Shape) -> bool:
    return probes.goes_through(relax.transform.LegalizeOps(), probes.program(make, shape))


FIX = Fix(
    name="empty_tensors",
    operators=OPERATORS,
    fault=(
        "split, gather_elements, circular padding, mean, variance and deviation fail on a static"
        " dimension 0"
    ),
    issue=None,
    parts=(
        FaultPart("means", lambda: not lowers_means_of_nothing()),
        FaultPart("splits", lambda: not splits_nothing()),
        FaultPart("indices", lambda: not gathers_nothing()),
        FaultPart("circular pads", lambda: not pads_nothing()),
    ),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, _of_no_elements) for name in OPERATORS),
    after="dataflow_reshape",
    patch=tuple(Wrapping(name, _of_no_elements) for name in OPERATORS),
)
