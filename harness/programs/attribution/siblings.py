"""Siblings: other dtypes and words than a blamed one that a case fails with as well.

``int8`` is blamed where float32 is right; a maintainer wants to know that ``bool`` fails, too.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from math import prod

import numpy as np
from msgspec.structs import replace

from relaxcheck.generators.calls import attributes_of_type
from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.fills.kinds import Literal, Random
from relaxcheck.generators.core.program import DTYPES, Case
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.outcomes.attribution import Aspect, Condition, Difference
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.programs.attribution.alternatives import values_of, with_value
from relaxcheck.harness.programs.reduction.steps import candidate, remade
from relaxcheck.harness.triage.fingerprint import (
    Signature,
    looks_alike,
    same_signature,
    signature_of,
)


def siblings(
    case: Case, outcome: Outcome, blamed: tuple[Condition, ...], family: Family | None = None
) -> Trials[tuple[Condition, ...]]:
    """The dtypes and words that fail as those of ``blamed`` conditions do.

    Each is tried with one draw. A dtype that passes with it says nothing, and is left out. Words
    are the values of an attribute in ``family``.
    """
    signature = signature_of(case, outcome)
    failing = []
    limits = [
        each.name
        for condition in blamed
        for each in condition.differences
        if each.what is Aspect.VALUES and each.name in ("lowest", "highest")
    ]
    for condition in blamed:
        if len(condition.named) == 1 and condition.differences[0].what is Aspect.ATTRIBUTE:
            failing += yield from _of_words(case, condition.differences[0], family, signature)
        if all(each.what is Aspect.DTYPE for each in condition.differences):
            for dtype in DTYPES:
                sibling = yield from _failing(case, condition, dtype, signature, limits)
                failing += [] if sibling is None else [sibling]
    return tuple(failing)


def _of_words(
    case: Case, blamed: Difference, family: Family | None, signature: Signature
) -> Trials[list[Condition]]:
    """The other words that ``case`` fails with for the ``blamed`` one."""
    failing = []
    for node in case.program.nodes:
        is_word = blamed.name in attributes_of_type(node.operator, "text")
        if not is_word or node.attributes.get(blamed.name) != blamed.was:
            continue
        for value in values_of(family, node.operator, blamed.name):
            for changed in with_value(case, node, blamed.name, value):
                if value in (blamed.was, blamed.to):
                    continue
                result = yield changed
                alike = same_signature(changed, result, signature)
                if alike and looks_alike(changed, result, signature):
                    sibling = Difference(blamed.what, blamed.name, blamed.was, value)
                    failing.append(Condition((sibling,), (result.verdict,), 1))
    return failing


def _failing(
    case: Case, condition: Condition, dtype: str, signature: Signature, limits: Sequence[str]
) -> Trials[Condition | None]:
    """The condition that ``case`` fails under with ``dtype`` for the blamed ones; None if not.

    If its integers have to be at one of the ``limits`` of their dtype, those of ``dtype`` are, too.
    """
    if any(dtype in (each.was, each.to) for each in condition.differences):
        return None
    for changed in (
        _at_limit(case, dtype, limits[0]) if limits else _with_dtype(case, condition, dtype)
    ):
        result = yield changed
        if same_signature(changed, result, signature):
            differences = tuple(
                Difference(each.what, each.name, each.was, dtype) for each in condition.differences
            )
            return Condition(differences, (result.verdict,), 1)
    return None


def _at_limit(case: Case, dtype: str, kind: str) -> Iterator[Case]:
    """``case`` with nothing but the lowest or highest integer of ``dtype`` in what it draws."""
    if not dtype.startswith(("int", "uint")):
        return
    limits = np.iinfo(dtype)
    limit = int(limits.min if kind == "lowest" else limits.max)
    inputs = [
        replace(tensor, dtype=dtype, fill=Literal((limit,) * prod(map(int, tensor.shape))))
        if isinstance(tensor.fill, Random | Literal)
        else tensor
        for tensor in case.program.inputs
    ]
    yield from candidate(partial(remade, case, inputs=inputs))


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
