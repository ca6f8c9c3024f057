"""Reductions over an axis that may be empty.

TVM initializes an output in the first iteration of the reduction. Where there is none, for a
symbolic axis that is 0 at run time, the output is what memory held. Here a loop of its own
initializes it: with the identity of the reduction, 0 for a sum. A maximum or minimum of nothing
has no value, as in PyTorch, and fails at run time.
"""

from collections.abc import Sequence
from typing import Any

from tvm import relax

from fixes import probes_of_shapes as probes
from fixes import tvm_api, tvm_api_reductions
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Part, invalid
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr

_SUMS = ("sum", "prod", "matmul", "einsum", *(f"nn.conv{rank}d" for rank in (1, 2, 3)))
_MEANS = ("mean", "variance", "std")
_CHOICES = ("max", "min", "argmax", "argmin")

OPERATORS = tuple(f"relax.{name}" for name in (*_SUMS, *_MEANS, *_CHOICES))
"""The operators whose outputs may have elements where what they reduce has none."""


def initializing(original: Legalization) -> Legalization:
    """``original``, but with reductions that initialize their output whatever they reduce."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        before = {str(variable.name_hint) for variable in builder.get().get_global_vars()}
        result = original(builder, call)
        for variable in builder.get().get_global_vars():
            if str(variable.name_hint) in before:
                continue
            function = builder.get()[variable]
            empty = tvm_api_reductions.empty_extents(function)
            if empty:
                new = tvm_api_reductions.initialized(function, empty)
                if _without_identity(call):
                    new = _refusing(new, call, [extent for one in empty.values() for extent in one])
                builder.update_func(variable, new)
        return result

    return lower


def _without_identity(call: Call) -> bool:
    """Whether nothing has no such value. The mean of no floats is NaN; of no integers, none."""
    name = str(call.op.name).removeprefix("relax.")
    floats = "float" in tvm_api.dtype_of(call)
    return name in _CHOICES or (name in _MEANS and not floats)


def _refusing(function: Any, call: Call, extents: Sequence[PrimExpr]) -> Any:
    """``function``, lowered from ``call``, which fails at run time where an extent is 0."""
    why = "no element is left along a reduced axis, and there is no value for none"
    message = str(invalid(str(call.op.name), why, **tvm_api.attribute_values(call.attrs)))
    assertions = [(extent >= 1, message) for extent in extents]
    return function.with_body(tvm_api.asserting_body(function.body, assertions))


FIX = Fix(
    name="empty_reduction",
    operators=OPERATORS,
    fault=(
        "a reduction over a symbolic axis that is empty at run time leaves in its output what"
        " memory held"
    ),
    issue=None,
    parts=(
        Part("sums", lambda: not probes.initializes(relax.op.sum)),
        Part("products", lambda: not probes.initializes_products()),
        Part("choices", lambda: not probes.initializes(relax.op.max)),
    ),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, initializing) for name in OPERATORS),
)
