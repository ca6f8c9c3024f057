"""Steps that make the graph of a program smaller: outputs, nodes, arguments, inputs."""

from collections.abc import Iterator, Sequence
from functools import partial

import msgspec

from generators.dims import Dim, evaluate, symbols
from generators.program import Case, Input, LongestSegment, Node
from harness.outcome import Computed
from harness.reduction.steps import Known, candidate, remade, with_node


def outputs(case: Case, known: Known) -> Iterator[Case]:
    """One output alone; all but one."""
    own = case.program.outputs
    if len(own) > 1:
        for one in own:
            yield from candidate(partial(remade, case, outputs=(one,)))
        for one in own:
            others = [other for other in own if other != one]
            yield from candidate(partial(remade, case, outputs=others))


def nodes(case: Case, known: Known) -> Iterator[Case]:
    """One node alone; the graph up to a node; a node's value as an input; without a node.

    Instead of a node without which the graph is tried, each of its arguments is taken in turn.
    """
    own = case.program.nodes
    if len(own) > 1:
        for node in own:
            yield from candidate(partial(_cut, case, known, node.arguments, (node.name,)))
    for node in own:
        yield from candidate(partial(remade, case, outputs=(node.name,)))
    for node in reversed(own):
        yield from candidate(partial(_cut, case, known, (node.name,)))
    yield from bypassed(case)


def bypassed(case: Case) -> Iterator[Case]:
    """Without one node, each of its arguments in turn in its place."""
    for node in case.program.nodes:
        for argument in dict.fromkeys(node.arguments):
            yield from candidate(partial(_bypassed, case, node, argument))


def arguments(case: Case, known: Known) -> Iterator[Case]:
    """A call without one of its arguments, the last first."""
    for node in case.program.nodes:
        for at in reversed(range(len(node.arguments))):
            fewer = (*node.arguments[:at], *node.arguments[at + 1 :])
            called = msgspec.structs.replace(node, arguments=fewer)
            yield from candidate(partial(remade, case, nodes=with_node(case, called)))


def inputs(case: Case, known: Known) -> Iterator[Case]:
    """Without all inputs that nothing uses; without one of them."""
    program = case.program
    used = {name for node in program.nodes for name in node.arguments} | set(program.outputs)
    used |= {one.fill.of for one in program.inputs if isinstance(one.fill, LongestSegment)}
    unused = [one.name for one in program.inputs if one.name not in used]
    for gone in (unused, *([name] for name in unused)):
        left = [one for one in program.inputs if one.name not in gone]
        yield from candidate(partial(remade, case, inputs=left))


def _bypassed(case: Case, node: Node, argument: str) -> Case:
    def renamed(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(argument if name == node.name else name for name in names)

    others = [
        msgspec.structs.replace(one, arguments=renamed(one.arguments))
        for one in case.program.nodes
        if one is not node
    ]
    return remade(case, nodes=others, outputs=renamed(case.program.outputs))


def _cut(
    case: Case, known: Known, names: Sequence[str], outputs: Sequence[str] | None = None
) -> Case:
    """The nodes ``names`` made inputs of the shape and dtype that the reference found."""
    computed = {node.name for node in case.program.nodes} & set(names)
    made = [
        Input(name, _shape(case, known.values[name]), known.values[name].dtype)
        for name in dict.fromkeys(names)
        if name in computed
    ]
    left = [node for node in case.program.nodes if node.name not in computed]
    return remade(case, inputs=(*case.program.inputs, *made), nodes=left, outputs=outputs)


def _shape(case: Case, value: Computed) -> tuple[Dim, ...]:
    """The dimensions of ``value``: integers, or those of an input that are equal at every binding.

    Raises:
        ValueError: one varies like that of no input.
    """
    there = dict.fromkeys(dim for one in case.program.inputs for dim in one.shape if symbols(dim))
    found: list[Dim] = []
    for column in zip(*value.shapes, strict=True):
        alike = [dim for dim in there if tuple(_at_all(case, dim)) == column]
        if not alike and len(set(column)) > 1:
            raise ValueError(f"a dimension of {column} is none of an input's")
        found.append(alike[0] if alike else column[0])
    return tuple(found)


def _at_all(case: Case, dim: Dim) -> Iterator[int]:
    for binding in case.bindings:
        yield evaluate(dim, binding)
