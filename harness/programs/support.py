"""The support table: what relaxcheck knows of each operator of Relax."""

from collections.abc import Container

import msgspec

from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.record import Operator
from relaxcheck.harness.releases.registered import Registered

YES, LIMITED, NO = "yes", "limited", "no"
"""An oracle answers every call of an operator that its family draws, not all of them, or none."""

OPEN = "open"
"""The reason for which an operator is not drawn: nobody has written its record yet."""


class Row(msgspec.Struct, frozen=True):
    """An operator of Relax.

    ``record`` is the name of its record, None where it has none; ``reason`` then says why.
    ``axes`` and ``faults`` are counts; ``oracles`` has ``YES``, ``LIMITED`` or ``NO`` by oracle.
    """

    operator: str
    record: str | None
    reason: str
    axes: int
    faults: int
    oracles: dict[str, str]
    fixes: tuple[str, ...]


class Limit(msgspec.Struct, frozen=True):
    """``oracle`` cannot answer calls of ``operator`` under the condition ``when``."""

    operator: str
    oracle: str
    when: str
    why: str


class Support(msgspec.Struct, frozen=True):
    """A row for each operator, and the limitations of the oracles on those that have a record."""

    rows: tuple[Row, ...]
    limits: tuple[Limit, ...]


def support(registered: Registered) -> Support:
    """Everything about the operators in ``registered`` and those that have a record.

    Imports the oracles, which takes seconds.
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
        if operator in OPERATORS and OPERATORS[operator].form == "tir":
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
        fixes = registered.fixes.get(operator, ())
        record = OPERATORS.get(operator) or called_by.get(operator)
        if record is None:
            rows.append(Row(operator, None, OPEN, 0, 0, answers(operator), fixes))
            continue
        rows.append(_row(operator, record, answers(record.name), fixes))
    return Support(tuple(rows), limits)


def _row(operator: str, record: Operator, oracles: dict[str, str], fixes: tuple[str, ...]) -> Row:
    axes, faults = len(record.family_axes), len(record.faults)
    return Row(operator, record.name, "", axes, faults, oracles, fixes)
