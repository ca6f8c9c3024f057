"""Legalizations of TVM that give up by returning the call as it was.

What they leave behind fails much later, in code generation, with a message about something else.
Here the error comes at legalization and names the operator and every attribute with its value.
"""

from fixes import probes_of_passes as probes
from fixes import tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part, refuse
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization

_RANKS = (1, 2, 3)

OPERATORS = (
    *(f"relax.nn.conv{rank}d" for rank in _RANKS),
    *(f"relax.nn.{kind}_pool{rank}d" for kind in ("max", "avg") for rank in _RANKS),
    *(f"relax.nn.adaptive_avg_pool{rank}d" for rank in _RANKS),
    "relax.grad.max_pool2d_backward",
    "relax.grad.avg_pool2d_backward",
)
"""The operators whose legalization in TVM has a branch that returns the call."""


def or_refuse(original: Legalization) -> Legalization:
    """``original``, but with an error in place of a call that it returns unchanged."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        result = original(builder, call)
        if result.same_as(call):
            raise refuse(call.op.name, **tvm_api.attribute_values(call.attrs))
        return result

    return lower


FIX = Fix(
    name="unlowered",
    operators=OPERATORS,
    fault=(
        "the legalization returns the call as it was, without an error, for layouts and"
        " dilations that it does not support"
    ),
    issue="apache/tvm#19694",
    parts=(
        Part("convolutions", lambda: not probes.refuses_convolutions()),
        Part("pooling", lambda: not probes.refuses_pooling()),
        Part("gradients of pooling", lambda: not probes.refuses_dilated_gradients()),
    ),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, or_refuse) for name in OPERATORS),
)
