"""Titles of failures: the operator, its behaviour, and the conditions, in words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from relaxcheck.generators.core.case import Invalid
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.errors import own_words
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.plain import where
from relaxcheck.harness.programs.pipelines import PIPELINES
from relaxcheck.harness.programs.reproduction import Reproduction
from relaxcheck.harness.triage.fingerprint import signature_of
from relaxcheck.reports.programs.attribution_text import innocent_operators
from relaxcheck.reports.programs.conditions import (
    attributes_of,
    blamed,
    conditions_of,
    values_of,
)
from relaxcheck.reports.programs.python_source import attribute_text

_TITLE_WORDS = 10

_CONDITION = re.compile(r"^Check failed: (?:\(.*?\) is false: |\S.*? : )(?=\w)")
"""The condition of a check in C++, before words of its own."""

_OPERATOR = re.compile(r'ir\.Op\((?:[^()]|\([^()]*\))*?name="([^"]*)"(?:[^()]|\([^()]*\))*\)')
"""TVM's print of one of its operators, which has the name among much else."""

NOTHING: Mapping[str, str] = MappingProxyType({})

_HAPPENS = {
    Verdict.PASS: "is right with the versions below",
    Verdict.REJECTED: "is refused, as it should be",
    Verdict.UNSUPPORTED: "is not supported{where}",
    Verdict.SILENT_BAIL: "is left behind by LegalizeOps without an error",
    Verdict.OPAQUE_CRASH: "raises an error that does not say what is unsupported{where}",
    Verdict.ACCEPTS_INVALID: "is accepted though invalid",
    Verdict.WRONG_SHAPE: "gives an output of the wrong shape",
    Verdict.WRONG_DTYPE: "gives an output of the wrong dtype",
    Verdict.WRONG_VALUE: "gives wrong values",
    Verdict.PROCESS_DEATH: "kills the process{where}",
    Verdict.TIMEOUT: "does not end{where}",
    Verdict.OUT_OF_MEMORY: "takes all memory{where}",
}
"""The behaviour of an operator by verdict, in TVM's words: a maintainer knows no verdicts."""

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
    if isinstance(repro.case.expect, Invalid) and not blamed(repro, attribution, named):
        conditions = [f"{_fault(repro, repro.case.expect)}{_first_words(repro)}"]
    # The pass that fails is named with the error.
    others = [each for each in conditions if each != repro.outcome.stage] + values_of(repro)
    listed = ", ".join(dict.fromkeys(others))
    return f"{' + '.join(named)} {_quoting(repro)}" + (f" ({listed})" if listed else "")


def distinctions(repro: Reproduction) -> Iterator[str]:
    """Further traits of a failure, each a phrase to end its title with, the most telling first."""
    if at := where(repro.outcome.stage):
        yield at
    has_numbers = repro.outcome.stage == "compare"
    if not has_numbers and (words := _words(repro, _TITLE_WORDS)):
        yield f'with "{words}"'
    if attributes := attributes_of(repro):
        yield f"with {', '.join(attributes)}"
    if before := PIPELINES[repro.case.pipeline].before:
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
    """The operator at fault, or those that the program has, but for those known not to matter."""
    named = signature_of(repro.case, repro.outcome).operator.split(" + ")
    innocent = innocent_operators(attribution, repro.case)
    return [name for name in named if name not in innocent] or named


def happens(repro: Reproduction) -> str:
    """The behaviour of the operator, as a predicate."""
    verdict = repro.outcome.verdict
    at = where(repro.outcome.stage)
    at = f", {at}" if at else ""
    if isinstance(repro.case.expect, Invalid) and verdict in _UNCLEAR:
        return f"is refused without saying what is invalid{at}"
    return _HAPPENS[verdict].format(where=at)


def _quoting(repro: Reproduction) -> str:
    """As ``happens``; an opaque error of a valid program is quoted, if it has words."""
    valid = not isinstance(repro.case.expect, Invalid)
    words = _words(repro, _TITLE_WORDS)
    if not (valid and words and repro.outcome.verdict is Verdict.OPAQUE_CRASH):
        return happens(repro)
    at = where(repro.outcome.stage)
    return f'raises "{words}"' + (f" {at}" if at else "")


def _first_words(repro: Reproduction) -> str:
    """The first words of an error that does not say what is invalid; a fault may have several."""
    words = _words(repro, _TITLE_WORDS) if repro.outcome.verdict in _UNCLEAR else ""
    return f': "{words}"' if words else ""


def _fault(repro: Reproduction, expect: Invalid) -> str:
    """The attribute that is invalid with its value; else the name of what is at fault."""
    values = [
        f"{name}={attribute_text(node.attributes[name])}"
        for node in repro.case.program.nodes
        if node.operator == expect.operator
        for name in expect.fault
        if name in node.attributes
    ]
    return values[0] if values else expect.fault[0]


def _words(repro: Reproduction, most: int | None) -> str:
    """Up to ``most`` words of the error: no class of an exception, no condition that has words."""
    message = own_words(repro.outcome.message)
    words = _OPERATOR.sub(r"\1", _CONDITION.sub("", message)).split()
    return " ".join(words[:most]) + " …" * (most is not None and len(words) > most)


def _shape(shape: Sequence[object]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
