"""Titles of failures: the operator, its behaviour, and the conditions, in words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from relaxcheck.generators.core.case import IllFormed, Invalid, Mismatch
from relaxcheck.generators.core.program import GRADIENT, Attribute, Case
from relaxcheck.harness.compiling.pipelines import GRADIENTS, steps_of
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.outcomes.appearance import UNKNOWN
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.errors import CONDITION, corrupts_heap, mentions, own_words
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.plain import on_heap, where
from relaxcheck.harness.outcomes.refusals import TOO_LATE, is_accident, refuses
from relaxcheck.harness.programs.invalid.rejection import subject_of
from relaxcheck.harness.programs.invalid.wrong_call import wrong_argument
from relaxcheck.harness.programs.reproduction import Reproduction
from relaxcheck.harness.triage.fingerprint import signature_of
from relaxcheck.harness.wording import series
from relaxcheck.reports.programs.attribution_text import innocent_operators
from relaxcheck.reports.programs.conditions import (
    attributes_of,
    blamed,
    conditions_of,
    values_of,
)
from relaxcheck.reports.programs.difference_text import UNUSUAL_INPUTS
from relaxcheck.reports.programs.python.source import attribute_text

_TITLE_WORDS = 10

_WORDLESS = re.compile(r"Check failed: (?:\((.*)\) is false:|(.*?) :)\s*$")
"""A check in C++ that has no words, but its condition."""

_UNEMITTED = "cannot emit this Relax operator directly"
"""Words of the code generator about a call that no pass has lowered."""

_SHORT_CONDITION = 60
"""A longer condition tells a reader nothing."""

_OPERATOR = re.compile(r'ir\.Op\((?:[^()]|\([^()]*\))*?name="([^"]*)"(?:[^()]|\([^()]*\))*\)')
"""TVM's print of one of its operators, which has the name among much else."""

NOTHING: Mapping[str, str] = MappingProxyType({})

_HAPPENS = {
    Verdict.PASS: "is right with the versions below",
    Verdict.REJECTED: "is refused, as it should be",
    Verdict.UNSUPPORTED: "is not supported{where}",
    Verdict.SILENT_BAIL: "is left behind by LegalizeOps without an error",
    Verdict.OPAQUE_CRASH: "raises an error{where}",
    Verdict.BROKEN_MODULE: "becomes another module than it should{where}",
    Verdict.ACCEPTS_INVALID: "is accepted though invalid",
    Verdict.WRONG_SHAPE: "gives an output of the wrong shape",
    Verdict.WRONG_DTYPE: "gives an output of the wrong dtype",
    Verdict.WRONG_VALUE: "gives wrong values",
    Verdict.PROCESS_DEATH: "kills the process{where}",
    Verdict.TIMEOUT: "does not end in time{where}",
    Verdict.OUT_OF_MEMORY: "takes all memory{where}",
}
"""The behaviour of an operator by verdict, in TVM's words: a maintainer knows no verdicts."""

_CONSTRUCTED = "emit"
"""The stage before any pass: what ends there is refused, if only by accident."""

_REFUSED_CALL = "refuses an argument of the wrong shape without saying what is wrong{where}"

_OF_CALLS = {
    Verdict.ACCEPTS_INVALID: "accepts an argument of the wrong shape",
    Verdict.OPAQUE_CRASH: _REFUSED_CALL,
    Verdict.UNSUPPORTED: _REFUSED_CALL,
}
"""The behaviour of a function that is called wrongly."""

_UNCLEAR = frozenset({Verdict.UNSUPPORTED, Verdict.OPAQUE_CRASH})
"""Of an invalid program: it is refused, but not for what is wrong with it."""


def title_text(
    repro: Reproduction, attribution: Attribution | None, blame: Mapping[str, str] = NOTHING
) -> str:
    """The title: the operator, its behaviour, and the conditions of the failure.

    ``attribution`` says what it takes to fail, ``blame`` what a campaign saw in common: see
    ``conditions``.
    """
    named = named_operators(repro, attribution)
    conditions = conditions_of(repro, attribution, blame, named)
    expect = repro.case.expect
    if isinstance(expect, Mismatch):
        conditions = [wrong_argument(repro.case, expect).brief]
    elif isinstance(expect, Invalid) and not blamed(repro, attribution, named):
        conditions = [f"{fault_text(repro, expect)}{_first_words(repro)}"]
    values = values_of(repro, attribution)
    # The pass that fails is named with the error, the unusual values with their names.
    inputs = any(each.startswith("inputs with ") for each in values)
    named_before = {repro.outcome.stage, *([UNUSUAL_INPUTS] if inputs else [])}
    named_before |= {GRADIENTS} if GRADIENT in named else set()
    listed = ", ".join(
        dict.fromkeys([each for each in conditions if each not in named_before] + values)
    )
    subject = " + ".join(name for name in named if name != GRADIENT)
    if GRADIENT in named:
        subject = f"gradient of {subject or 'a program'}"
    return f"{subject} {_quoting(repro)}" + (f" ({listed})" if listed else "")


def distinctions(repro: Reproduction) -> Iterator[str]:
    """Further traits of a failure, each a phrase to end its title with, the most telling first."""
    if at := where(repro.outcome.stage):
        yield at
    has_numbers = repro.outcome.stage == "compare"
    if not has_numbers and (words := _words(repro, _TITLE_WORDS)):
        yield f'with "{words}"'
    if attributes := attributes_of(repro):
        yield f"with {', '.join(attributes)}"
    if before := steps_of(repro.case):
        yield f"after {', '.join(before)}"
    else:
        yield "with no pass before relax.build"
    program = repro.case.program
    yield f"in a program of {', '.join(node.operator for node in program.nodes)}"
    yield f"in {', '.join(dict.fromkeys(tensor.dtype for tensor in program.inputs))}"
    shapes = (f"{tensor.name} of shape {_shape(tensor.shape)}" for tensor in program.inputs)
    yield f"with {', '.join(shapes)}"
    if every := _words(repro, None):
        yield f'with "{every}"'
    yield from attributes_of(repro)


def named_operators(repro: Reproduction, attribution: Attribution | None) -> list[str]:
    """The operator at fault, or those that the program has, but for those known not to matter.

    Of a wrong call no operator is at fault.
    """
    if isinstance(repro.case.expect, Mismatch):
        return list(dict.fromkeys(node.operator for node in repro.case.program.nodes))
    named = signature_of(repro.case, repro.outcome).operator.split(" + ")
    innocent = innocent_operators(attribution, repro.case)
    return [name for name in named if name not in innocent] or named


def happens(repro: Reproduction) -> str:
    """The behaviour of the operator, as a predicate."""
    verdict = repro.outcome.verdict
    at = where(repro.outcome.stage)
    apart = f", {at}" if at else ""
    if isinstance(repro.case.expect, Mismatch) and verdict in _OF_CALLS:
        return _OF_CALLS[verdict].format(where=apart)
    if isinstance(repro.case.expect, Invalid) and verdict in _UNCLEAR:
        return _refused(repro, at, apart)
    if isinstance(repro.case.expect, IllFormed) and verdict in _UNCLEAR:
        symbols = series(repro.case.expect.symbols)
        return f"is refused without saying that {symbols} is undefined{apart}"
    if verdict is Verdict.WRONG_VALUE and UNDEFINED in repro.outcome.details:
        return "gives values that depend on undefined memory"
    if verdict is Verdict.PROCESS_DEATH and corrupts_heap(repro.outcome.message):
        return f"{on_heap(repro.outcome)}{f' {at}' if at else ''}"
    if verdict is Verdict.SILENT_BAIL and UNKNOWN in repro.outcome.details:
        return f"is left behind by LegalizeOps for the {repro.outcome.details[UNKNOWN]}"
    return _HAPPENS[verdict].format(where=f" {at}" if at else "")


def _refused(repro: Reproduction, at: str, apart: str) -> str:
    """The fault of the refusal of an invalid program, as a predicate."""
    case, message = repro.case, repro.outcome.message
    assert isinstance(case.expect, Invalid)
    if repro.outcome.stage in TOO_LATE and refuses(message, None, subject_of(case, case.expect)):
        return f"is refused only {at}"
    if _WORDLESS.match(own_words(message)) and mentions(message, case.expect.fault):
        return f"is refused by a check without words{apart}"
    if is_accident(message) and repro.outcome.stage != _CONSTRUCTED:
        return f"is not refused, and fails{f' {at}' if at else ''}"
    return f"is refused without saying what is invalid{apart}"


def _quoting(repro: Reproduction) -> str:
    """As ``happens``; an opaque error of a valid program is quoted, if it has words."""
    # The program of a wrong call is valid.
    valid = not isinstance(repro.case.expect, Invalid | IllFormed) or isinstance(
        repro.case.expect, Mismatch
    )
    words = _words(repro, _TITLE_WORDS)
    if not (valid and words and repro.outcome.verdict is Verdict.OPAQUE_CRASH):
        return happens(repro)
    at = where(repro.outcome.stage)
    if _UNEMITTED in own_words(repro.outcome.message):
        return "is not lowered, and code generation cannot emit it"
    raises = f'raises "{words}"'
    if check := _WORDLESS.match(own_words(repro.outcome.message)):
        condition = " ".join((check[1] or check[2]).split())
        short = len(condition) <= _SHORT_CONDITION
        raises = f'fails the check "{condition}"' if short else "fails an internal check"
    return raises + (f" {at}" if at else "")


def _first_words(repro: Reproduction) -> str:
    """The first words of an error that does not say what is invalid; a fault may have several."""
    words = _words(repro, _TITLE_WORDS) if repro.outcome.verdict in _UNCLEAR else ""
    return f': "{words}"' if words else ""


def fault_text(repro: Reproduction, expect: Invalid) -> str:
    """The attribute that is invalid with its value; else the name of what is at fault."""
    attribute = fault_attribute(repro.case, expect)
    return f"{attribute[0]}={attribute_text(attribute[1])}" if attribute else expect.fault[0]


def fault_attribute(case: Case, expect: Invalid) -> tuple[str, Attribute] | None:
    """The attribute that is invalid, with its value; None if none is.

    A fault has the words that a good error may have: "stride" for the attribute ``strides``.
    """
    written = [
        (name, value)
        for node in case.program.nodes
        if node.operator == expect.operator
        for name, value in node.attributes.items()
    ]
    for ending in ("", "s"):
        for fault in expect.fault:
            for name, value in written:
                if name.removesuffix(ending) == fault:
                    return name, value
    return None


def _words(repro: Reproduction, most: int | None) -> str:
    """Up to ``most`` words of the error: no class of an exception, no condition that has words."""
    message = own_words(repro.outcome.message)
    words = _OPERATOR.sub(r"\1", CONDITION.sub("", message)).split()
    return " ".join(words[:most]) + " …" * (most is not None and len(words) > most)


def _shape(shape: Sequence[object]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
