"""Rejections of invalid programs and wrong calls: which errors are one."""

from relaxcheck.generators.core.case import IllFormed, Invalid, Mismatch
from relaxcheck.generators.core.program import Case
from relaxcheck.harness.outcomes.errors import mentions, names, states
from relaxcheck.harness.outcomes.refusals import DELIBERATE, Subject, raised_class, refuses


def is_rejection(case: Case, expected: Invalid, stage: str, message: str) -> bool:
    """True if ``message``, raised in ``stage``, says what is wrong with the program or call.

    A wrong call may be refused as late as it runs, by its parameter, dimension and sizes.
    """
    if isinstance(expected, Mismatch):
        named = names(message, expected.operator, expected.fault)
        return named and states(message, expected.sizes)
    return refuses(message, stage, subject_of(case, expected))


def names_undefined(message: str, expected: IllFormed) -> bool:
    """True if a deliberate check raised ``message``, and it names an undefined symbol."""
    return raised_class(message) in DELIBERATE and mentions(message, expected.symbols)


def subject_of(case: Case, expected: Invalid) -> Subject:
    """The names and sizes that an error about the invalid program of ``case`` may use."""
    nodes = [node for node in case.program.nodes if node.operator == expected.operator]
    shapes = (tensor.shape for tensor in case.program.inputs)
    attributes = (value for node in nodes for value in node.attributes.values())
    sizes = {
        size
        for value in (*shapes, *attributes)
        for size in (value if isinstance(value, tuple) else (value,))
        if isinstance(size, int)
    }
    operands = (tensor.name for tensor in case.program.inputs)
    named = (name for node in nodes for name in node.attributes)
    values = (node.attributes.get(name) for node in nodes for name in expected.fault)
    texts = tuple(value for value in values if isinstance(value, str))
    return Subject(expected.fault, (*operands, *named), frozenset(sizes), texts)
