"""Parametric ReLU.

TOPI compares the channels of data and alpha as constant integers, so that symbolic ones fail, and
asserts without a message. Type inference reads the data alone: an alpha of a wider dtype goes
through, and fails in a check of TIR.
"""

from collections.abc import Iterator

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.broadcast_elements import element
from relaxcheck.fixes.framework.fix import (
    LEGALIZE,
    FaultPart,
    Fix,
    invalid,
    legalization,
    require_shapes,
)
from relaxcheck.fixes.framework.patch import Lowering, NewFile
from relaxcheck.fixes.framework.requirements import Requirement, call_te
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr, Tensor
from relaxcheck.fixes.tvm_api.shapes import any_of

UPSTREAM = NewFile("relax/transform/legalize_ops/prelu.py")

OPERATOR = "relax.nn.prelu"


def _lower(builder: BlockBuilder, call: Call) -> Expr:
    require_shapes(call)
    data, alpha = call.args
    rank, axis = len(tvm_api.shape_of(data)), int(call.attrs.axis)
    dtypes = {"data": tvm_api.dtype_of(data), "alpha": tvm_api.dtype_of(alpha)}
    product = tirx.const(1, dtypes["data"]) * tirx.const(1, dtypes["alpha"])
    if tvm_api.dtype_of(product) != dtypes["data"]:
        raise invalid(OPERATOR, "data times alpha is not of the dtype of data", **dtypes)
    if len(tvm_api.shape_of(alpha)) != 1:
        shown = tvm_api.show(tvm_api.shape_of(alpha))
        raise invalid(OPERATOR, "alpha must have one dimension", alpha=shown)

    def require(x: Tensor, slope: Tensor) -> Iterator[Requirement]:
        size, channels = slope.shape[0], x.shape[axis % rank]
        why = f"the size of alpha is neither 1 nor that of the dimension, {tvm_api.show(channels)}"
        fits = any_of([tvm_api.equal(size, 1), tvm_api.equal(size, channels)])
        yield Requirement(fits, why, {"axis": axis, "alpha": f"({tvm_api.show(size)},)"})

    def compute(x: Tensor, slope: Tensor) -> Tensor:
        def rectified(*at: PrimExpr) -> PrimExpr:
            value = x(*at)
            scaled = value * element(slope, [at[axis % rank]], [x.shape[axis % rank]])
            return tirx.Select(value > tirx.const(0, dtypes["data"]), value, scaled)

        return te.compute(x.shape, rectified, name="prelu")

    return call_te(builder, call, require, compute, data, alpha)


def rectifies_symbols() -> bool:
    """True if a symbolic number of channels is computed."""
    n = tvm_api.shape_var("n")
    call = probes.one_call(relax.op.nn.prelu, (1, n), (n,))
    arrays = [np.array([[-2, 3]], "float32"), np.array([0.5, 4], "float32")]
    return probes.computes(call, arrays, np.array([[-1, 3]]))


def refuses_alphas() -> bool:
    """True if an alpha of another rank or size, or of a wider dtype, is refused by name."""
    return all(
        _is_refused(shape, dtype, terms)
        for shape, dtype, terms in (
            ((1, 2), "float32", ("dimension", "rank")),
            ((3,), "float32", ("size", "shape", "dimension")),
            ((2,), "float64", ("dtype",)),
        )
    )


def _is_refused(alpha: probes.Shape, dtype: str, terms: tuple[str, ...]) -> bool:
    def lower() -> None:
        call = probes.one_call(relax.op.nn.prelu, (1, 2), alpha, dtypes=("float32", dtype))
        call.op.get_attr(LEGALIZE)(relax.BlockBuilder(), call)

    return probes.is_refused(lower, "prelu", *terms)


FIX = Fix(
    name="prelu",
    operators=(OPERATOR,),
    fault=(
        "prelu of a symbolic number of channels is not lowered; an alpha of a wider dtype fails in"
        " a check of TIR, and one of another rank or size without a message"
    ),
    issue=None,
    parts=(
        FaultPart("symbolic channels", lambda: not rectifies_symbols()),
        FaultPart("alpha", lambda: not refuses_alphas()),
    ),
    attributes=legalization(OPERATOR, _lower),
    after="unsigned_negation",
    patch=(Lowering(OPERATOR, _lower),),
)
