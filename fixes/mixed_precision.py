"""Mixed precision that computes the same function as before.

``ToMixedPrecision`` asks an operator for its call in lower precision, and itself casts those
arguments that are float32. The three attention operators answer with plain attention of query, key
and value. Convolutions and matrix products answer with a float32 or float16 output whatever they
compute in, so that integers, float64 and bfloat16 pass through float16 on their way.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from fixes import probes_of_passes as probes
from fixes import tvm_api
from fixes.fix import Fix, OperatorAttribute, Part
from fixes.tvm_api import Call

KEY = "FInferMixedPrecision"


def _same(call: Call, out_dtype: Any) -> Call:
    """Attention has no output dtype to set, so the call stays as it is, all attributes included."""
    return call


def _drops(operator: str) -> bool:
    return not probes.mixed_precision_keeps(operator)


ATTENTION = Fix(
    name="mixed_precision_attention",
    operators=("relax.nn.attention", "relax.nn.attention_bias", "relax.nn.attention_var_len"),
    fault=(
        "ToMixedPrecision drops scale, causal mask, window and bias, and turns attention over"
        " several sequences into attention over one: wrong values, no error"
    ),
    issue=None,
    parts=tuple(
        Part(name, partial(_drops, operator))
        for name, operator in (
            ("attributes", "attention"),
            ("biases", "attention_bias"),
            ("sequences", "attention_var_len"),
        )
    ),
    attributes=tuple(
        OperatorAttribute(operator, KEY, lambda original: _same)
        for operator in (
            "relax.nn.attention",
            "relax.nn.attention_bias",
            "relax.nn.attention_var_len",
        )
    ),
)

_LOWERED = ("float16", "float32")
"""The dtypes that the pass is about."""

_PRODUCTS = (
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


PRODUCTS = Fix(
    name="mixed_precision_products",
    operators=_PRODUCTS,
    fault=(
        "ToMixedPrecision computes products of integers, float64 and bfloat16 in float32 and keeps"
        " the result in float16: wrong integers, lost precision, infinities"
    ),
    issue=None,
    parts=(
        Part("integers", lambda: not probes.mixed_precision_leaves("int8", "int32")),
        Part("float64", lambda: not probes.mixed_precision_leaves("float64")),
        Part("bfloat16", lambda: not probes.mixed_precision_leaves("bfloat16")),
    ),
    attributes=tuple(OperatorAttribute(operator, KEY, _of_floats_only) for operator in _PRODUCTS),
)
