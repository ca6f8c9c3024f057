"""Requirements of a call on its dimensions, decided when it is lowered or else when it runs.

Symbolic dimensions get their values at run time. A requirement that cannot be decided earlier
becomes an assertion at the head of the lowered function, before anything is computed.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/op/requirements.py")


@dataclass(frozen=True, slots=True)
class Requirement:
    """``condition`` must hold. Otherwise the call is invalid, as ``why`` and ``attributes``
    explain.
    """

    condition: PrimExpr
    why: str
    attributes: Mapping[str, object]


def undecided(operator: str, requirements: Iterable[Requirement]) -> list[Requirement]:
    """Those of ``requirements`` that only values at run time decide.

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
    """Replace ``call`` by a call of a new function that computes ``compute(*arguments)``.

    ``require`` and ``compute`` receive TE tensors for ``arguments``, and expressions for lists.

    Raises:
        ValueError: a requirement can never hold. The new function raises it for one that fails at
            run time.
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
