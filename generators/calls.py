"""The form of the call of a node's operator, read from its record; a plain call without one."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from relaxcheck.generators.core.case import Expectation, IllFormed, Valid
from relaxcheck.generators.core.program import Node, Program, ShapeValue
from relaxcheck.generators.core.structure import BRANCH
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.record import REQUIRED, Form

T = TypeVar("T")


def form(operator: str) -> Form:
    """The form of the operator's call; see ``Operator.form``."""
    record = OPERATORS.get(operator)
    return record.form if record is not None else "call"


def has_effect(operator: str) -> bool:
    """True if the operator is called for its effect; see ``Operator.effect``."""
    record = OPERATORS.get(operator)
    return record is not None and record.effect


def has_nulls(operator: str) -> bool:
    """True if TVM binds what stands for arguments that are left out; see ``Operator.nulls``."""
    record = OPERATORS.get(operator)
    return record is not None and record.nulls


def _is_pure_call(node: Node) -> bool:
    record = OPERATORS.get(node.operator)
    return record is None or (record.pure and not record.effect)


def is_pure(program: Program) -> bool:
    """True unless ``program`` has a call that may have side effects, by what TVM says of it."""
    return all(map(_is_pure_call, program.nodes))


def is_one_block(program: Program) -> bool:
    """True if one dataflow block has all nodes of ``program``."""
    branches = any(node.operator == BRANCH for node in program.nodes)
    return is_pure(program) and not branches and not program.apart


class Block(NamedTuple):
    """Neighbouring nodes all of which a dataflow block may have, or none.

    ``kept`` are the names of those that later blocks, or the outputs, use.
    """

    is_dataflow: bool
    nodes: Sequence[Node]
    kept: Sequence[str]


def blocks(program: Program) -> list[Block]:
    """The nodes of ``program`` in blocks, where not all may stand in a dataflow block."""
    made: list[Block] = []
    done = 0

    def is_inside(node: Node) -> bool:
        allowed = node.operator != BRANCH and _is_pure_call(node)
        return allowed and node.name not in program.apart

    for is_dataflow, group in groupby(program.nodes, is_inside):
        nodes = tuple(group)
        done += len(nodes)
        later = {argument for node in program.nodes[done:] for argument in node.arguments}
        used = later | {*program.outputs}
        made.append(Block(is_dataflow, nodes, [node.name for node in nodes if node.name in used]))
    return made


def grouped(operator: str, arguments: Sequence[T]) -> list[T | list[T]]:
    """``arguments`` as TVM's function takes them: those of an operand of many as one list."""
    record = OPERATORS.get(operator)
    listed = [operand.many and not operand.apart for operand in record.operands] if record else []
    many = [at for at, is_listed in enumerate(listed) if is_listed]
    if record is None or not many:
        return list(arguments)
    (at,) = many
    end = len(arguments) - (len(record.operands) - at - 1)
    return [*arguments[:at], list(arguments[at:end]), *arguments[end:]]


def expectation(program: Program) -> Expectation:
    """``Valid``, or ``IllFormed`` where no dimension that a call decides is a symbol by itself.

    ``program`` has no other fault.
    """
    symbols = undefined_symbols(program)
    return IllFormed(symbols) if symbols else Valid()


def undefined_symbols(program: Program) -> tuple[str, ...]:
    """The symbols that are in dimensions, as in ``2*m``, and none of them by itself, sorted."""
    if program.size_parameters:
        return ()
    defined = {dim for tensor in program.inputs if not tensor.constant for dim in tensor.shape}
    for node in program.nodes:
        cast_to = node.attributes.get("shape")
        if form(node.operator) == "cast" and isinstance(cast_to, ShapeValue):
            defined.update(cast_to.dims)
    return tuple(symbol for symbol in program.symbols if symbol not in defined)


def attributes_of_type(operator: str, kind: str) -> tuple[str, ...]:
    """The attributes of ``operator`` whose type (``record.Attribute.type``) is ``kind``."""
    record = OPERATORS.get(operator)
    return (
        tuple(attribute.name for attribute in record.attributes if attribute.type == kind)
        if record
        else ()
    )


def required(operator: str) -> frozenset[str]:
    """The attributes of ``operator`` that have no default: a call without one is no call."""
    record = OPERATORS.get(operator)
    return frozenset(
        attribute.name
        for attribute in (record.attributes if record else ())
        if attribute.default is REQUIRED
    )


def defaults(operator: str) -> dict[str, object]:
    """TVM's defaults of the attributes of ``operator`` that have one."""
    record = OPERATORS.get(operator)
    return {
        attribute.name: attribute.default
        for attribute in (record.attributes if record else ())
        if attribute.default is not REQUIRED
    }


def telling(node: Node) -> dict[str, Any]:
    """The attributes of ``node`` that are not at TVM's default.

    A list of nothing but the default is at the default, too.
    """
    record = OPERATORS.get(node.operator)
    defaults = (
        {attribute.name: attribute.default for attribute in record.attributes} if record else {}
    )
    return {
        name: value
        for name, value in node.attributes.items()
        if name not in defaults or not _is_default(value, defaults[name])
    }


def _is_default(value: Any, default: object) -> bool:
    alike = set(value) == {default} if isinstance(value, tuple) else value == default
    return alike and type(value) in (type(default), tuple)
