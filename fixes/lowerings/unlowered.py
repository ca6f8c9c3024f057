"""Legalizations of TVM that give up by returning the call unchanged.

The call then fails much later, in code generation, with a message about something else. Here
legalization raises an error that names the operator and every attribute with its value.
"""

from functools import partial

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute, refuse
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization

UPSTREAM = NewFile(
    "relax/transform/legalize_ops/unlowered.py",
    "An error in place of a call that a legalization returns as it was.",
)

_RANKS = (1, 2, 3)

OPERATORS = (
    *(f"relax.nn.{kind}_pool{rank}d" for kind in ("max", "avg") for rank in _RANKS),
    *(f"relax.nn.adaptive_avg_pool{rank}d" for rank in _RANKS),
    "relax.grad.max_pool2d_backward",
    "relax.grad.avg_pool2d_backward",
)
"""The operators whose legalization in TVM may return the call unchanged."""


def or_refuse(original: Legalization) -> Legalization:
    """``original``, with an error in place of an unchanged call."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        result = original(builder, call)
        if result.same_as(call):
            raise refuse(call.op.name, **tvm_api.attribute_values(call.attrs))
        return result

    return lower


def refuses_pooling() -> bool:
    """True if pooling to another layout is lowered or refused."""
    return all(
        _is_lowered_or_refused(
            partial(getattr(relax.op.nn, f"{kind}_pool{rank}d"), out_layout=f"N{spatial}C"),
            (1, 2, *(3,) * rank),
        )
        for rank, spatial in ((1, "W"), (2, "HW"), (3, "DHW"))
        for kind in ("max", "avg", "adaptive_avg")
    )


def refuses_dilated_gradients() -> bool:
    """True if gradients of dilated pooling are lowered or refused."""
    shape = (1, 1, 3, 3)
    return all(
        _is_lowered_or_refused(
            partial(getattr(relax.op.grad, f"{kind}_pool2d_backward"), dilation=(2, 2)),
            *(shape, shape),
        )
        for kind in ("max", "avg")
    )


def _is_lowered_or_refused(make: probes.Make, *shapes: probes.Shape) -> bool:
    """True if the legalization lowers or refuses the call, instead of returning it unchanged."""
    call = probes.one_call(make, *shapes)
    try:
        result: Expr = call.op.get_attr(LEGALIZE)(relax.BlockBuilder(), call)
    except NotImplementedError:
        return True
    return not result.same_as(call)


FIX = Fix(
    name="unlowered",
    operators=OPERATORS,
    fault=(
        "pooling to another layout, and its gradient with dilation, are left unlowered without an"
        " error"
    ),
    issue="apache/tvm#19694",
    parts=(
        FaultPart("pooling", lambda: not refuses_pooling()),
        FaultPart("gradients of pooling", lambda: not refuses_dilated_gradients()),
    ),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, or_refuse) for name in OPERATORS),
    after="empty_permute",
    patch=tuple(Wrapping(name, or_refuse) for name in OPERATORS),
)
