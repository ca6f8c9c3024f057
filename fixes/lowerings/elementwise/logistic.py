"""Sigmoid and silu of float16 without overflow.

TVM computes 1 / (1 + exp(-x)) in the dtype of x. In float16 exp overflows from 11.1 on, so that the
sigmoid of -11.1 is 0 and not 1.5e-5, and silu -0 and not -1.7e-4. Both are computed in float32.
"""

from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/logistic.py")

SIGMOID, SILU = "relax.sigmoid", "relax.nn.silu"


def _in_float32(original: Legalization) -> Legalization:
    """``original``, except that float16 is computed in float32."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        if tvm_api.dtype_of(call.args[0]) != "float16":
            return original(builder, call)
        name = str(call.op.name).rpartition(".")[2]

        def compute(data: Tensor) -> Tensor:
            def element(*at: PrimExpr) -> Any:
                value = data(*at).astype("float32")
                result = tirx.sigmoid(value)
                return (value * result if name == "silu" else result).astype("float16")

            return te.compute(data.shape, element, name=name)

        return builder.call_te(compute, call.args[0], primfunc_name_hint=f"tir_{name}")

    return lower


def keeps_small_results(make: probes.Make) -> bool:
    """True if the result for -11.5, a number of float16, is not 0."""
    function = probes.lowered(probes.one_call(make, (1,), dtypes=("float16",)))
    if function is None:
        return False
    low = np.full(1, -11.5, "float16")
    return bool(tvm_api.compiled(function[0])(low, np.zeros(1, "float16"))[0] != 0)


FIX = Fix(
    name="logistic",
    operators=(SIGMOID, SILU),
    fault=(
        "sigmoid and silu of float16 are 0 from -11.1 down, where they are 1.5e-5 and -1.7e-4: the"
        " exponential overflows"
    ),
    issue=None,
    parts=(
        FaultPart("sigmoid", lambda: not keeps_small_results(relax.op.sigmoid)),
        FaultPart("silu", lambda: not keeps_small_results(relax.op.nn.silu)),
    ),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, _in_float32) for name in (SIGMOID, SILU)),
    one_fault=True,
    after="multiply_add",
    patch=tuple(Wrapping(name, _in_float32) for name in (SIGMOID, SILU)),
)
