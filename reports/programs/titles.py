"""Titles of failures: the operator, its behaviour, and the conditions, in words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

import numpy as np

from relaxcheck.generators import families
from relaxcheck.generators.calls import form, telling
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import ORDINARY_REGIMES, ShapeValue
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.plain import where
from relaxcheck.harness.programs.pipelines import PIPELINES
from relaxcheck.harness.programs.reproduction import Reproduction, Way
from relaxcheck.harness.triage.fingerprint import signature_of
from relaxcheck.reports.programs.attribution_text import (
    innocent_attributes,
    innocent_operators,
    settings,
)
from relaxcheck.reports.programs.python_source import attribute_text

_TITLE_WORDS = 10

_CONDITION = re.compile(r"^Check failed: (?:\(.*?\) is false: |\S.*? : )(?=\w)")
"""The condition of a check in C++, before words of its own."""

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
    what: Reproduction, attribution: Attribution | None, blame: Mapping[str, str] = NOTHING
) -> str:
    """The title: the operator, its behaviour, and the conditions of the failure.

    Where nothing is known to be to blame, the attributes that are not at TVM's default are named,
    and the passes that run first; where there are none either, the axes that a campaign blames, or
    what else is not as usual. Of these none that is known not to matter.
    """
    named = named_operators(what, attribution)
    conditions = _blamed(what, attribution, named)
    if not conditions and isinstance(what.case.expect, Invalid):
        conditions = [f"{_fault(what, what.case.expect)}{_first_words(what)}"]
    elif conditions := conditions or _settings(what, attribution):
        # Reduction leaves no size at 0 where another one will do.
        conditions = [*conditions, *_empty(what)]
    conditions = conditions or _axes(what, blame) or _unusual(what)
    conditions = [*conditions, *_zeros(what), *_special(what)]
    listed = ", ".join(conditions)
    return f"{' + '.join(named)} {_quoting(what)}" + (f" ({listed})" if listed else "")


def distinctions(what: Reproduction) -> Iterator[str]:
    """Further traits of a failure, each a phrase to end its title with, the most telling first."""
    if at := where(what.outcome.stage):
        yield at
    has_numbers = what.outcome.stage == "compare"
    if not has_numbers and (words := _words(what, _TITLE_WORDS)):
        yield f'with "{words}"'
    if attributes := _attributes(what):
        yield f"with {', '.join(attributes)}"
    if before := PIPELINES[what.case.pipeline].before:
        yield f"after {', '.join(before)}"
    else:
        yield "with no pass before relax.build"
    program = what.case.program
    yield f"in a program of {', '.join(node.operator for node in program.nodes)}"
    yield f"in {', '.join(dict.fromkeys(tensor.dtype for tensor in program.inputs))}"
    shapes = (f"{tensor.name} of shape {_shape(tensor.shape)}" for tensor in program.inputs)
    yield f"with {', '.join(shapes)}"
    if every := _words(what, None):
        yield f'with "{every}"'
    yield from _attributes(what)


def named_operators(what: Reproduction, attribution: Attribution | None) -> list[str]:
    """The operator at fault, or those that the program has, but for those known not to matter."""
    named = signature_of(what.case, what.outcome).operator.split(" + ")
    innocent = innocent_operators(attribution, what.case)
    return [name for name in named if name not in innocent] or named


def happens(what: Reproduction) -> str:
    """The behaviour of the operator, as a predicate."""
    verdict = what.outcome.verdict
    at = where(what.outcome.stage)
    at = f", {at}" if at else ""
    if isinstance(what.case.expect, Invalid) and verdict in _UNCLEAR:
        return f"is refused without saying what is invalid{at}"
    return _HAPPENS[verdict].format(where=at)


def _quoting(what: Reproduction) -> str:
    """As ``happens``; an opaque error of a valid program is quoted, if it has words."""
    valid = not isinstance(what.case.expect, Invalid)
    words = _words(what, _TITLE_WORDS)
    if not (valid and words and what.outcome.verdict is Verdict.OPAQUE_CRASH):
        return happens(what)
    at = where(what.outcome.stage)
    return f'raises "{words}"' + (f" {at}" if at else "")


def _first_words(what: Reproduction) -> str:
    """The first words of an error that does not say what is invalid; a fault may have several."""
    words = _words(what, _TITLE_WORDS) if what.outcome.verdict in _UNCLEAR else ""
    return f': "{words}"' if words else ""


def _fault(what: Reproduction, expect: Invalid) -> str:
    """The attribute that is invalid with its value; else the name of what is at fault."""
    values = [
        f"{name}={attribute_text(node.attributes[name])}"
        for node in what.case.program.nodes
        if node.operator == expect.operator
        for name in expect.fault
        if name in node.attributes
    ]
    return values[0] if values else expect.fault[0]


def _words(what: Reproduction, most: int | None) -> str:
    """Up to ``most`` words of the error: no class of an exception, no condition that has words."""
    said = headline(what.outcome.message).partition(": ")[2]
    words = _CONDITION.sub("", said).split()
    return " ".join(words[:most]) + " …" * (most is not None and len(words) > most)


def _blamed(what: Reproduction, attribution: Attribution | None, named: Sequence[str]) -> list[str]:
    """The settings that the failure is due to, without operators that the title has already."""
    if attribution is None:
        return []
    every = {tensor.name for tensor in what.case.program.inputs}
    return list(
        dict.fromkeys(
            text
            for text in settings(attribution, every)
            if text.removeprefix("together with ") not in named
        )
    )


def _settings(what: Reproduction, attribution: Attribution | None) -> list[str]:
    """The attributes that are not at TVM's default, and the passes before ``relax.build``."""
    innocent = innocent_attributes(attribution)
    return [*_attributes(what, innocent), *PIPELINES[what.case.pipeline].before]


def _attributes(what: Reproduction, without: frozenset[str] = frozenset()) -> list[str]:
    """Attributes in TVM's terms; a shape that a call has to name is none that may matter."""
    return [
        f"{name}={attribute_text(value)}"
        for node in what.case.program.nodes
        if form(node.operator) == "call"
        for name, value in telling(node).items()
        if name not in without and not isinstance(value, ShapeValue)
    ]


def _axes(what: Reproduction, blame: Mapping[str, str]) -> list[str]:
    """The axes that a campaign blames, in words, as far as there are any for them."""
    words = _axis_words().get(what.case.family, {}) if blame else {}
    return [words[axis].format(value) for axis, value in blame.items() if axis in words]


@cache
def _axis_words() -> dict[str, dict[str, str]]:
    """The words of each axis that has some, by family."""
    return {
        family.name: {axis.name: axis.words for axis in family.axes if axis.words}
        for family in families.every(tuple(PIPELINES))
    }


def _unusual(what: Reproduction) -> list[str]:
    """Unusual traits of a program's inputs: symbolic dimensions, sizes of 0.

    No dtypes: that they matter, only attribution can tell.
    """
    return [*(f"symbolic {name}" for name in what.case.program.symbols), *_empty(what)]


def _empty(what: Reproduction) -> list[str]:
    """The inputs without elements."""
    inputs = what.case.program.inputs
    empty = [tensor.name for tensor in inputs if 0 in tensor.shape]
    if empty and len(inputs) == 1:
        return ["empty input"]
    return [f"empty {name}" for name in empty]


def _zeros(what: Reproduction) -> list[str]:
    """The symbols that are 0 where outputs are wrong.

    Reduction binds none to 0 where another size will do.
    """
    if what.way is not Way.VALUES:
        return []
    return [f"{name} = 0" for name, size in what.runs[0].binding.items() if size == 0]


def _special(what: Reproduction) -> list[str]:
    """The values that are no numbers among the inputs, where outputs are wrong in such a run."""
    if what.way is not Way.VALUES or what.runs[0].regime in ORDINARY_REGIMES:
        return []
    # float64 holds every value of the other dtypes that is no number.
    values = [array.astype("float64") for array in what.runs[0].inputs.values()]
    known = {
        "NaN": any(np.isnan(each).any() for each in values),
        "inf": any(np.isposinf(each).any() for each in values),
        "-inf": any(np.isneginf(each).any() for each in values),
    }
    present = [name for name, seen in known.items() if seen]
    return [f"inputs with {', '.join(present)}"] if present else []


def _shape(shape: Sequence[object]) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
