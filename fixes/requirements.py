"""What a call needs of its dimensions: proved or refuted when it is lowered, else when it runs.

A dimension that is symbolic has its value only at run time. A requirement of it that cannot be
decided before becomes an assertion at the head of the lowered function, so that no element is
computed from dimensions that do not go together.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fixes import prover, tvm_api
from fixes.fix import invalid
from fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr, Tensor


@dataclass(frozen=True, slots=True)
class Requirement:
    """``condition`` must hold; else the call is invalid, as ``why`` and ``attributes`` say."""

    condition: PrimExpr
    why: str
    attributes: Mapping[str, object]


def undecided(operator: str, requirements: Iterable[Requirement]) -> list[Requirement]:
    """Those of ``requirements`` that only the values at run time decide.

    Raises:
        ValueError: one can never hold; the message names operator and attributes.
    """
    left = []
    for requirement in requirements:
        if prover.proves(requirement.condition):
            continue
        if prover.proves(tvm_api.negated(requirement.condition)):
            raise invalid(operator, requirement.why, **requirement.attributes)
        left.append(requirement)
    return left


def call_te(
    builder: BlockBuilder,
    call: Call,
    require: Callable[..., Iterable[Requirement]],
    compute: Callable[..., Tensor],
    *arguments: Expr | list[PrimExpr],
) -> Call:
    """A call of a new function, in place of ``call``, which computes ``compute(*arguments)``.

    ``require`` and ``compute`` are given TE tensors for ``arguments``, and expressions for lists.

    Raises:
        ValueError: what ``require`` asks for can never hold. The new function raises it where it
            turns out not to hold at run time.
    """
    operator = str(call.op.name)
    assertions: list[tuple[PrimExpr, str]] = []

    def checked_tensor(*tensors: Any) -> Tensor:
        assertions.extend(
            (left.condition, str(invalid(operator, left.why, **left.attributes)))
            for left in undecided(operator, require(*tensors))
        )
        return compute(*tensors)

    name = operator.rpartition(".")[2]
    return tvm_api.call_te(builder, checked_tensor, arguments, assertions, name)
