"""The rows of the support table, and the limitations of the oracles that it lists."""

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.undrawn import BY_NAME
from relaxcheck.harness.releases.registered import Registered

YES, LIMITED, NO = "yes", "limited", "no"
"""An oracle answers every call of an operator that its family draws, not all of them, or none."""

OPEN = "open"
"""The reason for which an operator is not drawn: nobody has written its record yet."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Row(msgspec.Struct, frozen=True):
    """An operator of Relax.

    ``record`` is true if it has a record, its own or that of the operator ``drawn_by``; ``reason``
    says why it has none. ``lowering`` is how ``relax.build`` lowers it, empty if nothing is
    registered for that. ``axes`` and ``faults`` are counts, and so are the ``known`` failures, in
    the corpus or declared. ``oracles`` has ``YES``, ``LIMITED`` or ``NO`` by oracle, ``verdicts``
    the cases of the last campaign by verdict.
    """

    operator: str
    record: bool
    reason: str
    drawn_by: str
    lowering: str
    axes: int
    faults: int
    oracles: dict[str, str]
    fixes: tuple[str, ...]
    known: int = 0
    verdicts: dict[str, int] = {}

    @property
    def is_open(self) -> bool:
        """True if the operator has no record and is not declared to get none."""
        return self.reason == OPEN


class Limit(msgspec.Struct, frozen=True):
    """``oracle`` cannot answer calls of ``operator`` under the condition ``when``."""

    operator: str
    oracle: str
    when: str
    why: str


class Support(msgspec.Struct, frozen=True):
    """A row for each operator of ``release``, and the limitations of the oracles on records."""

    rows: tuple[Row, ...]
    limits: tuple[Limit, ...]
    release: str = ""


def support(
    registered: Registered,
    known: Mapping[str, int] = _NOTHING,
    verdicts: Mapping[str, Mapping[str, int]] = _NOTHING,
    release: str = "",
) -> Support:
    """Everything about the operators in ``registered`` and those that have a record.

    ``known`` counts known failures by operator, ``verdicts`` the cases of a campaign by operator
    and verdict; ``release`` is theirs. Imports the oracles, which takes seconds.
    """
    from relaxcheck.oracles import independent  # noqa: F401 - declares the operators below
    from relaxcheck.oracles.limitations import limitations
    from relaxcheck.oracles.onnxruntime.call import OPERATORS as IN_ONNX
    from relaxcheck.oracles.pytorch.evaluate import OPERATORS as IN_PYTORCH
    from relaxcheck.oracles.reference.evaluate import OPERATORS as IN_REFERENCE

    tables: dict[str, Container[str]] = {
        "reference": IN_REFERENCE,
        "pytorch": IN_PYTORCH,
        "onnxruntime": IN_ONNX,
    }
    limits = tuple(
        Limit(limitation.operator, limitation.oracle, limitation.when.text, limitation.why)
        for limitation in sorted(
            limitations(), key=lambda limitation: (limitation.operator, limitation.oracle)
        )
    )
    limited = {(limit.operator, limit.oracle) for limit in limits}

    def answer(operator: str, oracle: str) -> str:
        if operator in OPERATORS and OPERATORS[operator].form in ("tir", "packed", "closure"):
            # Oracles are asked about the operators that the functions compute.
            return YES
        if operator not in tables[oracle]:
            return NO
        return LIMITED if (operator, oracle) in limited else YES

    def answers(operator: str) -> dict[str, str]:
        return {oracle: answer(operator, oracle) for oracle in tables}

    called_by = {name: record for record in OPERATORS.values() for name in record.also}
    rows = []
    for operator in sorted({*registered.operators, *OPERATORS}):
        fixes = tuple(sorted(registered.fixes.get(operator, ())))
        record = OPERATORS.get(operator) or called_by.get(operator)
        rows.append(
            Row(
                operator=operator,
                record=record is not None,
                reason="" if record else _reason(operator),
                drawn_by=record.name if record else "",
                lowering=registered.lowerings.get(operator, ""),
                axes=len(record.family_axes) if record else 0,
                faults=len(record.faults) if record else 0,
                oracles=answers(record.name if record else operator),
                fixes=fixes,
                known=known.get(record.name if record else operator, 0),
                verdicts=dict(verdicts.get(record.name if record else operator, {})),
            )
        )
    return Support(tuple(rows), limits, release)


def _reason(operator: str) -> str:
    undrawn = BY_NAME.get(operator)
    if undrawn is None:
        return OPEN
    reached = f" ({undrawn.emitted_by})" if undrawn.emitted_by else ""
    return undrawn.reason + reached
