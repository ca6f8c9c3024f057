"""Fingerprints: failures of one cause share one, by TVM's message or by the blamed axes."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from relaxcheck.generators.core.axes import BY_VALUE, PIPELINE
from relaxcheck.generators.core.case import AnyCase, Valid, target_of
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness.kinds import of
from relaxcheck.harness.kinds import operators as operators_of
from relaxcheck.harness.outcomes.appearance import of_lowering
from relaxcheck.harness.outcomes.errors import (
    corrupts_heap,
    fold,
    has_words,
    last_part,
    normalise,
    pattern,
    same_elsewhere,
)
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

FINGERPRINT_FORMAT = 11
"""Changes when a failure may get another fingerprint; journals of another are not resumed."""

_SALT = 5
"""Changes when every failure is to get another fingerprint."""

WRONG = frozenset({Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE})
"""Verdicts of results that differ from what the oracles agree on."""
_RAISED = frozenset({Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED})
_EXPLAINED_BY_WORKER = frozenset({Verdict.SILENT_BAIL, Verdict.BROKEN_MODULE})
_EXPLAINED_BY_TVM = frozenset({*_EXPLAINED_BY_WORKER, Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED})
"""Verdicts with a message of TVM's: one message of one stage about one operator is one cause."""

INVALID = "invalid"
"""The value of the axis that stands for the fault of an invalid program in its blame."""

BY_OPERATOR = frozenset({None, "emit", "LegalizeOps", "codegen", "load", "run", "compare"})
"""Stages of an operator's own code; all others are passes over whole programs."""

_SERVES_ALL = frozenset({"codegen", "load"})
"""Those of them whose code is that of no single operator."""

_CHECK = "Check failed"

_ABORT = "SIGABRT"

OVERWRITTEN = "the heap is corrupted: something wrote out of bounds"
"""The cause of such an abort; the words are those of the allocation that notices."""

_TYPE = re.compile("`[^`]*`")
"""A type that a message quotes, such as that of a printed expression."""

_CHECKED = "emit"
"""The stage in which Relax infers types, and refuses what is invalid."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Inputs of the fingerprint that a single outcome gives.

    A failure with the fixes on (``fixes``) has another cause than one without: the fixes did not
    cure it. ``appearance`` (``Kind.appearance``) is no part of the fingerprint. ``target``,
    where it is not LLVM's, is a part where the message does not name the cause.
    """

    verdict: Verdict
    stage: str | None
    operator: str
    message: str
    fixes: bool
    appearance: str = ""
    target: str = ""


def other_target(case: AnyCase) -> str:
    """The target of ``case``; "" for LLVM's."""
    return "" if target_of(case) == LLVM else target_of(case)


def operators(case: AnyCase) -> str:
    """The operators of ``case`` as one text, for a failure that names none."""
    return " + ".join(operators_of(case))


def signature_of(case: AnyCase, outcome: Outcome) -> Signature:
    """The signature of the failure ``outcome`` of ``case``.

    Of a wrong value and of a silent bail the message is the cause that the worker found, if it
    has it: neither numbers that differ nor the calls that are left can be compared. Of a death it
    is the signal: the last output depends on how far it was written. Only of an abort the last
    line, an assertion as a rule, names the cause; those of the heap's own checks are one cause.
    """
    has_cause = outcome.verdict in WRONG or outcome.verdict in _EXPLAINED_BY_WORKER
    message = outcome.cause if has_cause else normalise(outcome.message)
    if outcome.verdict is Verdict.PROCESS_DEATH and outcome.ending is not None:
        message = _of_death(outcome.ending.signal, message)
    operator = outcome.operator or operators(case)
    look = of(case).appearance(outcome)
    target = other_target(case)
    return Signature(outcome.verdict, outcome.stage, operator, message, case.fixes, look, target)


def reduced_signature(case: AnyCase, outcome: Outcome) -> Signature:
    """As ``signature_of``, of a failure that was reduced to ``case``.

    Where a call is left in a core, and nobody says why, the operators around it are the reason: all
    of them are named.
    """
    signature = signature_of(case, outcome)
    unexplained = signature.verdict is Verdict.SILENT_BAIL and not names_cause(signature)
    valid = isinstance(case.expect, Valid)
    if unexplained and valid and of(case).by_structure(case):
        return replace(signature, operator=operators(case))
    return signature


def _of_death(signal: str, message: str) -> str:
    if signal == _ABORT and corrupts_heap(message):
        return OVERWRITTEN
    return message if not signal or (signal == _ABORT and has_words(message)) else signal


def same_signature(case: AnyCase, outcome: Outcome, signature: Signature) -> bool:
    """True if ``outcome`` of ``case`` has ``signature``; if none named an operator, any will do.

    A reduction may drop the nodes around the one at fault, and with them their operators. A silent
    bail that was recorded without a logged reason matches any reason.
    """
    other = signature_of(case, outcome)
    if signature.verdict is Verdict.SILENT_BAIL and not (signature.message and other.message):
        signature, other = replace(signature, message=""), replace(other, message="")
    return _but_operators(signature, other) and operators_within(other, signature)


def _but_operators(signature: Signature, other: Signature) -> bool:
    """True if the two differ in nothing but operators, appearance and target.

    A failure for one target that is there for LLVM's as well is the same.
    """
    operator, appearance, target = signature.operator, signature.appearance, signature.target
    return replace(other, operator=operator, appearance=appearance, target=target) == signature


def operators_within(signature: Signature, other: Signature) -> bool:
    """True if ``other`` names all operators of ``signature``."""
    return set(signature.operator.split(" + ")) <= set(other.operator.split(" + "))


def same_on_another_release(case: AnyCase, outcome: Outcome, other: Outcome) -> bool:
    """True if two failures on two releases differ in nothing but how these print the same error.

    Errors are compared as a whole: where a condition fills what is left of one that was cut, its
    words are missing.
    """
    here, there = signature_of(case, outcome), signature_of(case, other)
    return same_elsewhere(_uncut(here, outcome), _uncut(there, other)) and replace(
        here, message="", appearance=""
    ) == replace(there, message="", appearance="")


def _uncut(signature: Signature, outcome: Outcome) -> str:
    """The message of ``signature``, which is that of ``outcome``, before it was cut."""
    own = signature.message == normalise(outcome.message)
    return fold(outcome.message) if own else signature.message


def looks_alike(case: AnyCase, outcome: Outcome, signature: Signature) -> bool:
    """True unless the failure ``outcome`` of ``case`` looks other than one of ``signature``.

    NaN is not explained by a finding about values that are off, nor an error by one that was raised
    elsewhere. Where the place of an error is not known, nothing tells.
    """
    here, there = of(case).appearance(outcome), signature.appearance
    return here == there or (outcome.verdict not in WRONG and not (here and there))


def at_one_place(signature: Signature, other: Signature) -> bool:
    """True if the two errors are known to come from one place in TVM, for one reason.

    Neither the stage counts, since several passes call one lowering, nor the operators: the place
    names the lowering. Of a failed check the words behind the condition do not count.
    """
    key, other_key = place_key(signature), place_key(other)
    return key is not None and key == other_key


def place_key(signature: Signature) -> tuple[object, ...] | None:
    """The key of all errors of one place and reason; None where the place is not known."""
    if signature.verdict not in _RAISED or not signature.appearance:
        return None
    return signature.verdict, signature.fixes, signature.appearance, _reason(signature)


def check_key(signature: Signature) -> tuple[str, str]:
    """The key of the check that an error fails: the function that raised it, and the reason.

    Unlike in ``place_key`` neither the lowerings around it count, nor operators in its words.
    """
    return raised_in(signature), _reason(replace(signature, message=_unnamed(signature)))


def raised_in(signature: Signature) -> str:
    """The innermost function of an error's place; "" where that is not known."""
    return signature.appearance.rpartition(" > ")[2]


def _reason(signature: Signature) -> str:
    """The message without quoted types; of a failed check also without words behind it."""
    message = _TYPE.sub("`…`", signature.message)
    return message.partition(" is false")[0] if _CHECK in message else message


def explainable(case: AnyCase, outcome: Outcome, signature: Signature) -> bool:
    """True if a finding with ``signature`` may explain the failure ``outcome`` of ``case``.

    As ``same_signature``; but where no operator was named, the one at fault may be one of several
    in ``case``.
    """
    if same_signature(case, outcome, signature):
        return True
    other = signature_of(case, outcome)
    within = operators_within(signature, other)
    return outcome.operator is None and within and _but_operators(signature, other)


def fingerprint(signature: Signature, blame: dict[str, str]) -> str:
    """12 hexadecimal digits that are the same for the same cause, over runs, seeds and machines.

    The axes that count are those of ``cause_axes``, with the values of ``BY_VALUE``; those of the
    several spatial dimensions (``stride.h``, ``stride.w``) count as one. An invalid program that
    gets past type inference has one cause for each operator and fault, whatever happens later:
    nothing checks it.
    """
    invalid = INVALID in blame.values()
    axes = sorted({_counted(*item) for item in cause_axes(signature, blame).items()})
    if invalid and signature.stage != _CHECKED:
        parts = ["unchecked", signature.operator, str(signature.fixes)]
    else:
        parts = [INVALID] * invalid
        parts += map(str, (signature.verdict, signature.stage, signature.operator))
        parts += [str(signature.fixes), signature.message]
        parts += [signature.target] if signature.target and not names_cause(signature) else []
    whole = "\0".join((str(_SALT), *parts, *axes))
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def sibling_key(signature: Signature, blame: dict[str, str], group_of: Callable[[str], str]) -> str:
    """As ``fingerprint``, but the same for all operators of one group (``Kind.group``).

    The operators' names in the message count as one too. An error from code that serves all
    operators is one line of TVM's source: all operators are one group.
    """
    if _serves_all(signature):
        return fingerprint(replace(signature, operator=""), blame)
    groups = " + ".join(map(group_of, signature.operator.split(" + ")))
    return fingerprint(replace(signature, operator=groups, message=_unnamed(signature)), blame)


def _unnamed(signature: Signature) -> str:
    """The message without the names of operators in it."""
    message = signature.message
    for operator in signature.operator.split(" + "):
        message = re.sub(pattern((last_part(operator),)), "#", message, flags=re.IGNORECASE)
    return message


def _serves_all(signature: Signature) -> bool:
    """True of an error that names its cause, from code of TVM's that serves all operators.

    Such is a failed C++ check in a pass that has no code of single operators, the code generator,
    the loader, and a refusal that names no operator. A pass may call the lowering of an operator,
    whose place is known then.
    """
    if signature.verdict is Verdict.BROKEN_MODULE:
        return True
    if signature.verdict not in _RAISED or not names_cause(signature):
        return False
    if signature.stage not in BY_OPERATOR:
        return failed_check(signature) and not of_lowering(signature.appearance)
    if signature.stage in _SERVES_ALL:
        return True
    named = pattern(map(last_part, signature.operator.split(" + ")))
    refused = signature.verdict is Verdict.UNSUPPORTED
    return refused and not re.search(named, signature.message, re.IGNORECASE)


def failed_check(signature: Signature) -> bool:
    """True of a failed C++ check that has words to tell it from others: one line of source."""
    return _CHECK in signature.message and names_cause(signature)


def in_pass(signature: Signature) -> bool:
    """True of a failed check in a pass, the code generator or the loader, which serve all."""
    own = signature.stage in BY_OPERATOR - _SERVES_ALL
    return failed_check(signature) and not own


def _counted(axis: str, value: str) -> str:
    return f"{axis}={value}" if axis in BY_VALUE else axis.split(".")[0]


def cause_axes(signature: Signature, blame: dict[str, str]) -> dict[str, str]:
    """The part of ``blame`` that separates causes with one ``signature``.

    Nothing where the message names the cause: several attributes lead to one branch of a
    legalization, or to one check. The pipeline alone where it is blamed: the default passes are
    right with everything else that it takes, so one of its own passes is wrong. Of an invalid
    program that nothing refuses in time it is the fault.
    """
    checked = INVALID not in blame.values() or signature.stage == _CHECKED
    if checked and names_cause(signature):
        return {}
    return {PIPELINE: blame[PIPELINE]} if PIPELINE in blame else blame


def names_cause(signature: Signature) -> bool:
    """True if the message names the cause, whatever leads to it.

    TVM explains a crash; the worker that looked into a wrong value explains that.
    """
    if signature.verdict in WRONG:
        return bool(signature.message)
    return signature.verdict in _EXPLAINED_BY_TVM and has_words(signature.message)
