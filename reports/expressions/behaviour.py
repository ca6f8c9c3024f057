"""The behaviour that a failure of one expression shows, in words: for titles and issues."""

from types import MappingProxyType

from relaxcheck.generators.expressions.cases import (
    ANALYZED,
    EXTENT,
    INDEX,
    PARAMETER,
    SHAPE,
    ExpressionCase,
)
from relaxcheck.generators.expressions.language import names
from relaxcheck.harness.expressions.fault import ALSO, RESTORED, Asked, asked_of
from relaxcheck.harness.outcomes.errors import own_words, without_addresses
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.reports.issue.template import process_words

_TITLE_WORDS = 12

_DOES = MappingProxyType(
    {
        "const_int_bound": "const_int_bound excludes a value of",
        "modular_set": "modular_set excludes a value of",
        "int_set": "int_set does not cover",
        "can_prove": "can_prove proves what does not hold of",
        "can_prove-strong": "can_prove at SYMBOLIC_BOUND proves what does not hold of",
        "can_prove_equal": "can_prove_equal proves two expressions equal that differ, one being",
        "detect_iter_map": "detect_iter_map changes the value of",
        "detect_iter_map-surjective": "detect_iter_map states a range that is not that of",
        "detect_iter_map-bijective": "detect_iter_map takes for bijective what is not:",
        "fold": "constants are folded wrong in",
        RESTORED: "a constraint scope leaves something behind, seen in the simplification of",
        "value": "a kernel computes another value than",
        INDEX: "a kernel loads from another index than",
        f"{INDEX}-reversed": "a kernel loads from another index than the end minus",
        SHAPE: "Relax computes another size than",
        PARAMETER: "Relax refuses a tensor of the size",
        f"{PARAMETER}-accepted": "Relax accepts a tensor of another size than",
        f"{PARAMETER}-untold": "an error does not tell the size of a tensor, which is not",
        f"{PARAMETER}-computed": "Relax computes another size of a parameter than",
        EXTENT: "Relax makes a tensor of another size than",
    }
)
"""The wrong behaviour, by check; the expression follows."""

_QUESTIONS = frozenset(
    {"simplify", "rewrite_simplify", "canonical_simplify", "const_int_bound", "modular_set"}
    | {"int_set", "can_prove", "can_prove_equal", "detect_iter_map", "deduce_bound"}
)
"""Functions of the analyzer, as its users call them."""


_RANGELESS = frozenset({"deduce_bound", "detect_linear_equation"})
"""Functions that are asked without the ranges of the variables."""


def title_text(case: ExpressionCase, outcome: Outcome) -> str:
    """The wrong behaviour with the expression and its ranges; for a title."""
    about = _about(case)
    if outcome.verdict in (Verdict.WRONG_VALUE, Verdict.PASS):
        return f"{_does(asked_of(outcome.details))} {about}"
    place = _place(case)
    if outcome.verdict is Verdict.OPAQUE_CRASH:
        words = own_words(outcome.message).split()
        cut = " …" * (len(words) > _TITLE_WORDS)
        return f'{place} raises "{" ".join(words[:_TITLE_WORDS])}{cut}": {about}'
    ends = {Verdict.TIMEOUT: "does not end in time", Verdict.OUT_OF_MEMORY: "takes all memory"}
    return f"{place} {ends.get(outcome.verdict, 'ends the process')}: {about}"


def _about(case: ExpressionCase, *, ranges: bool = True) -> str:
    """The expression with the ranges of the variables that occur in it, or in what is known.

    Without ``ranges``, with their dtypes alone.
    """
    subject = case.subject
    occurring = frozenset().union(*map(names, (subject.expression, *subject.constraints)))
    where = ", ".join(
        f"{variable.name}: {variable.dtype}"
        + (f" in [{variable.low}, {variable.high}]" if ranges else "")
        for variable in subject.variables
        if variable.name in occurring
    )
    known = " and ".join(map(str, case.subject.constraints))
    return (
        f"{case.subject.expression}"
        + (f" with {where}" if where else "")
        + (f", where {known}" if known else "")
    )


def _does(asked: Asked) -> str:
    if asked.validity:
        behaviour = f"{asked.question} adds an overflow or a division by zero to"
    else:
        behaviour = _DOES.get(asked.question, f"{asked.question} changes the value of")
    return behaviour.replace(" ", " (ranges told anew) ", 1) if asked.after else behaviour


def _place(case: ExpressionCase) -> str:
    """The place of the expression, as the subject of a sentence."""
    if case.position == ANALYZED:
        return "the analyzer"
    places = {
        INDEX: "an index",
        SHAPE: "a size",
        PARAMETER: "the size of a parameter",
        EXTENT: "the size of a tensor that is made",
    }
    return f"an expression as {places.get(case.position, 'a value in a kernel')}"


def actual_text(case: ExpressionCase, outcome: Outcome) -> str:
    """The wrong behaviour with the expression and its ranges, as a sentence."""
    if outcome.verdict is Verdict.OPAQUE_CRASH:
        call = asked_of(outcome.details).call
        within = f" in `{call}`" if call else ""
        about = _about(case, ranges=call not in _RANGELESS)
        text = f"{_place(case)} raises an error{within}: {about}"
    else:
        text = title_text(case, outcome)
    first, space, rest = text.partition(" ")
    # The name of a function keeps its letters.
    return f"`{first}`{space}{rest}" if first in _QUESTIONS else f"{text[0].upper()}{text[1:]}"


def shown_message(case: ExpressionCase, outcome: Outcome) -> str:
    """The message; of a wrong answer with the function that gave it, without the other checks."""
    message = without_addresses(process_words(outcome.message.strip(), outcome))
    lines = [line for line in message.splitlines() if not line.startswith(ALSO)]
    asked = asked_of(outcome.details).question.partition("-")[0]
    if lines and case.position == ANALYZED and asked in _QUESTIONS:
        apart = ":" if lines[0].startswith(("min_value", "max_value")) else ""
        lines[0] = f"{asked}{apart} {lines[0]}"
    return "\n".join(lines)


def also_wrong(outcome: Outcome) -> str:
    """The other functions of the analyzer that give wrong answers about the expression."""
    first = outcome.message.partition("\n")[0]
    names = first.removeprefix(ALSO).strip().split(", ") if first.startswith(ALSO) else []
    asked = asked_of(outcome.details).question
    others = [f"`{name}`" for name in names if name in _QUESTIONS and name != asked]
    some = f"{', '.join(others[:-1])} and {others[-1]}" if others[1:] else "".join(others)
    answers = "give wrong answers" if others[1:] else "gives a wrong answer"
    return f"{some} {answers} about it as well." if others else ""
