"""Mixed precision keeps all attributes and arguments of attention.

For ``ToMixedPrecision`` the three attention operators answer with plain attention of query, key and
value, whatever else the call had.
"""

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
    "relax/transform/mixed_precision_attention.py",
    "Attention in lower precision that computes the same function as before.",
)

OPERATORS = ("relax.nn.attention", "relax.nn.attention_bias", "relax.nn.attention_var_len")


def _same(call: Call, out_dtype: Any) -> Call:
    """Attention has no output dtype to set, so the call stays as it is, all attributes included."""
    return call


def keeps_attributes(operator: str) -> bool:
    """True if mixed precision keeps the attention ``operator``, its arguments and attributes."""
    shape = (1, 3, 2, 4)
    more: tuple[probes.Shape, ...] = {
        "attention": (),
        "attention_bias": ((1, 1, 3, 3),),
        "attention_var_len": ((3,), ()),
    }[operator]
    dtypes = ("float32",) * (3 + (operator == "attention_bias"))
    dtypes += ("int32",) * (len(more) - (operator == "attention_bias"))
    make = partial(getattr(relax.op.nn, operator), scale=0.25, causal_mask="TopLeft", window_size=2)
    module = probes.program(make, shape, shape, shape, *more, dtypes=dtypes)
    converted = relax.transform.ToMixedPrecision()(module)
    before, after = (
        [call for call in probes.calls(version) if "attention" in call.op.name]
        for version in (module, converted)
    )
    return len(before) == len(after) and all(map(_same_call, before, after))


def _same_call(left: Call, right: Call) -> bool:
    return (
        left.op.same_as(right.op)
        and len(left.args) == len(right.args)
        and str(tvm_api.attribute_values(left.attrs)) == str(tvm_api.attribute_values(right.attrs))
    )


def _drops(operator: str) -> bool:
    return not keeps_attributes(operator)


FIX = Fix(
    name="mixed_precision_attention",
    operators=OPERATORS,
    fault=(
        "ToMixedPrecision drops scale, causal mask, window and bias, and turns attention over"
        " several sequences into attention over one: wrong values, no error"
    ),
    issue=None,
    parts=tuple(
        FaultPart(name, partial(_drops, operator))
        for name, operator in (
            ("attributes", "attention"),
            ("biases", "attention_bias"),
            ("sequences", "attention_var_len"),
        )
    ),
    attributes=tuple(OperatorAttribute(name, KEY, lambda original: _same) for name in OPERATORS),
    after="batch_matmul",
    patch=(Override(OPERATORS, KEY, _same, wraps=False),),
)
