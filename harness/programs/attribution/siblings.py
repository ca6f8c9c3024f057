"""Sibling dtypes: other dtypes than a blamed one that a case fails with as well.

``int8`` is blamed where float32 is right; a maintainer wants to know that ``bool`` fails, too.
"""

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from relaxcheck.generators.core.program import DTYPES, Case, Literal, Random
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.outcomes.attribution import Aspect, Condition, Difference
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.programs.reduction.steps import candidate, remade
from relaxcheck.harness.triage.fingerprint import Signature, same_signature, signature_of


def siblings(
    case: Case, outcome: Outcome, blamed: tuple[Condition, ...]
) -> Trials[tuple[Condition, ...]]:
    """The dtypes that fail as those of ``blamed`` conditions do, each tried with one draw.

    A dtype that passes with it says nothing, and is left out.
    """
    signature = signature_of(case, outcome)
    failing = []
    for condition in blamed:
        if all(each.what is Aspect.DTYPE for each in condition.differences):
            for dtype in DTYPES:
                sibling = yield from _failing(case, condition, dtype, signature)
                failing += [] if sibling is None else [sibling]
    return tuple(failing)


def _failing(
    case: Case, condition: Condition, dtype: str, signature: Signature
) -> Trials[Condition | None]:
    """The condition that ``case`` fails under with ``dtype`` for the blamed ones; None if not."""
    if any(dtype in (each.was, each.to) for each in condition.differences):
        return None
    for changed in _with_dtype(case, condition, dtype):
        result = yield changed
        if same_signature(changed, result, signature):
            differences = tuple(
                Difference(each.what, each.name, each.was, dtype) for each in condition.differences
            )
            return Condition(differences, (result.verdict,), 1)
    return None


def _with_dtype(case: Case, condition: Condition, dtype: str) -> Iterator[Case]:
    """``case`` with ``dtype`` in the blamed inputs, as they are and drawn: not all fit it."""
    names = {difference.name for difference in condition.differences}
    for drawn in (False, True):
        inputs = [
            replace(
                tensor,
                dtype=dtype,
                fill=Random() if drawn and isinstance(tensor.fill, Literal) else tensor.fill,
            )
            if tensor.name in names
            else tensor
            for tensor in case.program.inputs
        ]
        if drawn and inputs == [*case.program.inputs]:
            return
        yield from candidate(partial(remade, case, inputs=inputs))
