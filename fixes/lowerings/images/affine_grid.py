"""Affine grids of symbolic size, and in float64.

The legalization asks for a static size, though TOPI's computation needs none but for its constants.
With aligned corners TOPI shortens the step from 2 to 2 - 1e-7, which is a rounding error in float32
and half of the digits in float64.
"""

from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/affine_grid.py")

OPERATOR = "relax.image.affine_grid"


def _in_any_size(original: Legalization) -> Legalization:
    """``original``, except for sizes that are symbolic, and for float64."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        sizes = getattr(tvm_api.type_of(call.args[1]), "values", None)
        if sizes is None or not tvm_api.has_shape(call.args[0]):
            return original(builder, call)
        numbers = all(tvm_api.as_int(size) is not None for size in sizes)
        if numbers and tvm_api.dtype_of(call.args[0]) != "float64":
            return original(builder, call)
        # Older releases align corners always.
        aligned = bool(getattr(call.attrs, "align_corners", True))

        def compute(data: Tensor, sizes: Any) -> Tensor:
            return _grid(data, list(sizes), aligned)

        return builder.call_te(compute, call.args[0], list(sizes), primfunc_name_hint="affine_grid")

    return lower


def _grid(data: Tensor, sizes: list[PrimExpr], aligned: bool) -> Tensor:
    """The places of a grid, x, y and z along axis 1, each transformed by every matrix."""
    dtype, rank = tvm_api.dtype_of(data), len(sizes)

    def coordinate(at: PrimExpr, size: PrimExpr) -> PrimExpr:
        one, two = tirx.const(1, dtype), tirx.const(2, dtype)
        place, count = at.astype(dtype), size.astype(dtype)
        if aligned:
            return two * place / (count - one) - one
        return (two * place + one) / count - one

    def element(n: PrimExpr, row: PrimExpr, *places: PrimExpr) -> PrimExpr:
        value = data[n, row, rank]
        for axis, (at, size) in enumerate(zip(places, sizes, strict=True)):
            value = value + data[n, row, rank - 1 - axis] * coordinate(at, size)
        return value

    return te.compute((data.shape[0], rank, *sizes), element, name="affine_grid")


_TURNED = np.array([[[0, -1, 0], [1, 0, 0]]])
"""x becomes -y, and y becomes x."""
_CORNERS = np.array([[[[1, 1], [-1, -1]], [[-1, 1], [-1, 1]]]])
"""The grid of two by two places that it makes."""


def takes_symbols() -> bool:
    """True if a grid has as many places along each axis as there are matrices, n."""
    n = tvm_api.shape_var("n")
    call = _called(n, n, "float32")
    twice = np.concatenate([_TURNED, _TURNED])
    return probes.computes(call, [twice.astype("float32")], np.concatenate([_CORNERS, _CORNERS]))


def keeps_float64() -> bool:
    """True if the corners of a grid are -1 and 1 to all digits of float64."""
    lowered = probes.lowered(_called(1, 2, "float64"))
    if lowered is None:
        return False
    run = tvm_api.compiled(lowered[0])
    grid = run(_TURNED.astype("float64"), np.zeros(_CORNERS.shape))
    return bool(np.abs(grid - _CORNERS).max() < 1e-12)


def _called(batch: Any, size: Any, dtype: str) -> Call:
    return probes.one_call(
        lambda x: relax.op.image.affine_grid(x, relax.ShapeExpr([size, size])),
        (batch, 2, 3),
        dtypes=(dtype,),
    )


FIX = Fix(
    name="affine_grid",
    operators=(OPERATOR,),
    fault=(
        "an affine grid of symbolic size is not lowered; one of float64 with aligned corners is off"
        " by 1e-7, since its step is shortened by as much"
    ),
    issue=None,
    parts=(
        FaultPart("symbolic sizes", lambda: not takes_symbols()),
        FaultPart("float64", lambda: not keeps_float64()),
    ),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, _in_any_size),),
    single=(OPERATOR,),
    after="normalization",
    patch=(Wrapping(OPERATOR, _in_any_size),),
)
