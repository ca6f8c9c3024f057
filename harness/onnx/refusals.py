"""Errors of the importer and of the compiler: which of them are clear refusals."""

import re

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.schemas import schema
from relaxcheck.generators.onnx.walk import nodes_of
from relaxcheck.harness.outcomes.errors import (
    REFUSALS,
    concerns_operands,
    disowns,
    mentions,
    names,
    names_operator,
    says_unsupported,
    without_module,
)
from relaxcheck.harness.outcomes.outcome import Verdict

_RELAX = re.compile(r"\brelax\.(?:[a-z_]+\.)*([a-z_0-9]+)")
"""An operator of Relax in a message."""

_PYTHONS_OWN = re.compile(
    r"^(?:AttributeError|IndexError|KeyError|NameError|RecursionError|UnboundLocalError)\b"
    r"|NoneType|positional argument|unsupported operand type|object is not|not subscriptable"
    r"|object has no|object of type|must be str|bad operand type"
)
"""Words of errors that Python raises where code meets what it did not expect. They speak of
attributes, arguments, operands and types, and not of the model's."""


_DELIBERATE = "OpNotImplemented: "
"""The class of errors by which converters refuse a node."""

_WORDS = frozenset(
    (
        *("Add", "And", "Cast", "Constant", "Equal", "Expand", "Greater", "Identity", "If"),
        *("Less", "Log", "Loop", "Max", "Mean", "Min", "Not", "Optional", "Or", "Range", "Round"),
        *("Scan", "Shape", "Sign", "Size", "Slice", "Split", "Sum", "Tile", "Unique", "Where"),
    )
)
"""Operators whose names are words of many messages: "constant value", "data shape", "not"."""


def classified(case: OnnxCase, stage: str, message: str) -> tuple[Verdict, str | None]:
    """The verdict on an error of TVM's with this ``message``, and the operator it is about.

    A valid model is refused clearly where the error names an operator and says that it, or some
    use of it, is not supported; or names an operator with one of its attributes or inputs. An error
    that says it of a dtype, say, and names no operator (``names_none``) is a refusal, too. An
    invalid one is rejected where the error says what is wrong, before anything runs; one of
    Python's own (``_PYTHONS_OWN``) has to name the operator, too. Of a valid model, no accident of
    Python's is a refusal.
    """
    operator = _named(case, message)
    if isinstance(case.expect, Invalid):
        return _of_invalid(case.expect, stage, message)
    if operator is not None:
        return Verdict.UNSUPPORTED, operator
    if _refuses(message):
        return Verdict.UNSUPPORTED, _mentioned(case, message) or _only(case)
    return Verdict.OPAQUE_CRASH, _only(case)


def names_none(case: OnnxCase, message: str) -> bool:
    """True if ``message`` says of a valid model what is not supported, but of no operator."""
    if isinstance(case.expect, Invalid) or _named(case, message) is not None:
        return False
    return _refuses(message) and _mentioned(case, message) is None


def is_accident(message: str) -> bool:
    """True if ``message`` is an error of Python's or NumPy's own, which refuses nothing.

    One that a converter raises as a refusal is none, whatever words of Python's it repeats.
    """
    if message.startswith(_DELIBERATE):
        return False
    return _PYTHONS_OWN.search(message) is not None or concerns_operands(message)


def is_called(message: str, operator: str) -> bool:
    """True if ``message`` names ``operator``; one that is a word (``_WORDS``) as it is spelled."""
    if operator in _WORDS:
        spelled = rf"(?<![0-9A-Za-z]){operator}(?![0-9A-Za-z])"
        return re.search(spelled, without_module(message)) is not None
    return names_operator(message, operator)


def _refuses(message: str) -> bool:
    return says_unsupported(message) and not is_accident(message)


def _mentioned(case: OnnxCase, message: str) -> str | None:
    """The first operator of the model that ``message`` names."""
    operators = (node.operator for node in nodes_of(case.model))
    return next((each for each in operators if is_called(message, each)), None)


def _of_invalid(expect: Invalid, stage: str, message: str) -> tuple[Verdict, str | None]:
    says = mentions(message, expect.fault)
    if says and _PYTHONS_OWN.search(message):
        says = names(message, expect.operator, expect.fault)
    if says and stage != "run":
        return Verdict.REJECTED, expect.operator
    if disowns(message, expect.operator):
        return Verdict.UNSUPPORTED, expect.operator
    return Verdict.OPAQUE_CRASH, expect.operator


def _named(case: OnnxCase, message: str) -> str | None:
    """The operator of the model, or else of Relax, that ``message`` refuses."""
    if is_accident(message):
        return None
    for node in nodes_of(case.model):
        if not is_called(message, node.operator):
            continue
        if disowns(message, node.operator):
            return node.operator
        parts = (*node.attributes, *_parameters(node.operator, case.model.opset))
        if names(message, node.operator, parts):
            return node.operator
    found = _RELAX.search(without_module(message))
    if found is not None and mentions(message, REFUSALS) and names_operator(message, found[1]):
        return found[1]
    return None


def _parameters(operator: str, opset: int) -> tuple[str, ...]:
    """The names of inputs and attributes in the schema of ``operator``, long enough to be words."""
    try:
        version = schema(operator, opset)
    except KeyError:
        return ()
    if version is None:
        return ()
    every = (*(each.name for each in version.inputs), *version.attributes)
    return tuple(name for name in every if len(name) > 1)


def _only(case: OnnxCase) -> str | None:
    operators = {node.operator for node in nodes_of(case.model)}
    return operators.pop() if len(operators) == 1 else None
