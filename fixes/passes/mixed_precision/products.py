"""Mixed precision leaves products of integers, float64 and bfloat16 alone.

For ``ToMixedPrecision`` convolutions and matrix products answer with a float32 or float16 output
whatever they compute in, so that integers, float64 and bfloat16 pass through float16.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import NewFile, Override
from relaxcheck.fixes.passes.mixed_precision import KEY
from relaxcheck.fixes.tvm_api import Call

UPSTREAM = NewFile(
    "relax/transform/mixed_precision_products.py",
    "Products in lower precision that compute the same function as before.",
)

_LOWERED = ("float16", "float32")
"""The dtypes that the pass converts between."""

OPERATORS = (
    *(f"relax.nn.conv{rank}d{kind}" for kind in ("", "_transpose") for rank in (1, 2, 3)),
    "relax.matmul",
)


def _of_floats_only(original: Callable[..., Any]) -> Callable[..., Any]:
    def infer(call: Call, out_dtype: Any) -> Call:
        dtypes = {tvm_api.dtype_of(argument) for argument in call.args}
        if call.attrs.out_dtype:
            dtypes.add(str(call.attrs.out_dtype))
        return original(call, out_dtype) if dtypes <= set(_LOWERED) else call

    return infer


def leaves_products(dtype: str, out_dtype: str | None = None) -> bool:
    """True if mixed precision adds no other float to products of ``dtype``."""
    allowed = {dtype, out_dtype}
    for make, *shapes in _products(out_dtype):
        module = probes.program(make, *shapes, dtypes=(dtype, dtype))
        text = str(relax.transform.ToMixedPrecision()(module))
        if set(re.findall(r"\bb?float\d+\b", text)) - allowed:
            return False
    return True


def _products(out_dtype: str | None) -> list[tuple[Any, ...]]:
    """Convolutions of each rank and a matrix product, each with the shapes of its operands."""
    dtypes: list[tuple[Any, ...]] = [
        (
            partial(getattr(relax.op.nn, f"conv{rank}d{kind}"), out_dtype=out_dtype),
            (1, 2, *(3,) * rank),
            (2, 2, *(2,) * rank),
        )
        for rank in (1, 2, 3)
        for kind in ("", "_transpose")
    ]
    return [*dtypes, (partial(relax.op.matmul, out_dtype=out_dtype), (2, 3), (3, 2))]


FIX = Fix(
    name="mixed_precision_products",
    operators=OPERATORS,
    fault=(
        "ToMixedPrecision computes products of integers, float64 and bfloat16 in float32 and keeps"
        " the result in float16: wrong integers, lost precision, infinities"
    ),
    issue=None,
    parts=(
        FaultPart("integers", lambda: not leaves_products("int8", "int32")),
        FaultPart("float64", lambda: not leaves_products("float64")),
        FaultPart("bfloat16", lambda: not leaves_products("bfloat16")),
    ),
    attributes=tuple(OperatorAttribute(name, KEY, _of_floats_only) for name in OPERATORS),
    after="mixed_precision_attention",
    patch=(Override(OPERATORS, KEY, _of_floats_only, wraps=True),),
)
