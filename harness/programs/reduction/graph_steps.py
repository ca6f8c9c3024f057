"""Steps that make the graph of a program smaller: outputs, nodes, arguments, inputs."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count, islice

import msgspec

from relaxcheck.generators.core.dims import Dim, evaluate, symbols
from relaxcheck.generators.core.fills.kinds import LongestSegment
from relaxcheck.generators.core.program import Case, Input, Node
from relaxcheck.harness.outcomes.outcome import Computed
from relaxcheck.harness.programs.reduction.steps import Knowledge, candidate, remade, with_node


def outputs(case: Case, known: Knowledge) -> Iterator[Case]:
    """One output alone; all but one."""
    own = case.program.outputs
    if len(own) > 1:
        for output in own:
            yield from candidate(partial(remade, case, outputs=(output,)))
        for output in own:
            others = [other for other in own if other != output]
            yield from candidate(partial(remade, case, outputs=others))


def nodes(case: Case, known: Knowledge) -> Iterator[Case]:
    """One node alone; the graph up to a node; a node's value as an input; without a node.

    A node that is left out is replaced by each of its arguments in turn.
    """
    own = case.program.nodes
    if len(own) > 1:
        for node in own:
            yield from _cut_ways(case, known, node.arguments, (node.name,))
    for node in own:
        yield from candidate(partial(remade, case, outputs=(node.name,)))
    for node in reversed(own):
        yield from _cut_ways(case, known, (node.name,))
    yield from bypassed(case)


def bypassed(case: Case) -> Iterator[Case]:
    """``case`` without one node: each of its arguments in turn replaces it."""
    for node in case.program.nodes:
        for argument in dict.fromkeys(node.arguments):
            yield from candidate(partial(_bypassed, case, node, argument))


def arguments(case: Case, known: Knowledge) -> Iterator[Case]:
    """A call without one of its arguments, the last first."""
    for node in case.program.nodes:
        for at in reversed(range(len(node.arguments))):
            fewer = (*node.arguments[:at], *node.arguments[at + 1 :])
            called = msgspec.structs.replace(node, arguments=fewer)
            yield from candidate(partial(remade, case, nodes=with_node(case, called)))


def inputs(case: Case, known: Knowledge) -> Iterator[Case]:
    """Without all inputs that nothing uses; without one of them."""
    program = case.program
    used = {name for node in program.nodes for name in node.arguments} | set(program.outputs)
    used |= {tensor.fill.of for tensor in program.inputs if isinstance(tensor.fill, LongestSegment)}
    unused = [tensor.name for tensor in program.inputs if tensor.name not in used]
    for gone in (unused, *([name] for name in unused)):
        left = [tensor for tensor in program.inputs if tensor.name not in gone]
        yield from candidate(partial(remade, case, inputs=left))


def _bypassed(case: Case, node: Node, argument: str) -> Case:
    def renamed(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(argument if name == node.name else name for name in names)

    others = [
        msgspec.structs.replace(kept, arguments=renamed(kept.arguments))
        for kept in case.program.nodes
        if kept is not node
    ]
    return remade(case, nodes=others, outputs=renamed(case.program.outputs))


def _cut_ways(
    case: Case, known: Knowledge, names: Sequence[str], outputs: Sequence[str] | None = None
) -> Iterator[Case]:
    """``_cut`` with a symbol, then with an integer, for a dimension of one size at all bindings.

    Whether TVM knows that two dimensions are equal may be what a failure is about.
    """
    for symbolic in (True, False):
        yield from candidate(partial(_cut, case, known, names, outputs, symbolic=symbolic))


def _cut(
    case: Case,
    known: Knowledge,
    names: Sequence[str],
    outputs: Sequence[str] | None,
    *,
    symbolic: bool,
) -> Case:
    """``case`` with the nodes ``names`` as inputs, of the reference's shapes and dtypes."""
    computed = {node.name for node in case.program.nodes} & set(names)
    fresh: dict[tuple[int, ...], str] = {}
    made = [
        Input(
            name,
            _shape(case, known.values[name], fresh, symbolic=symbolic),
            known.values[name].dtype,
        )
        for name in dict.fromkeys(names)
        if name in computed
    ]
    left = [node for node in case.program.nodes if node.name not in computed]
    sizes = {name: column for column, name in fresh.items()}
    rows = [
        {**binding, **{name: column[at] for name, column in sizes.items()}}
        for at, binding in enumerate(case.bindings)
    ]
    inputs = (*case.program.inputs, *made)
    return remade(case, inputs=inputs, nodes=left, outputs=outputs, bindings=rows)


def _shape(
    case: Case, value: Computed, fresh: dict[tuple[int, ...], str], *, symbolic: bool
) -> tuple[Dim, ...]:
    """The dimensions of ``value``: integers, or those of an input that are equal at every binding.

    A dimension that varies like that of no input is a symbol of its own, which ``fresh`` takes up
    by its size at each binding. One that does not vary is that of an input if ``symbolic``.
    """
    there = dict.fromkeys(
        dim for tensor in case.program.inputs for dim in tensor.shape if symbols(dim)
    )
    dims: list[Dim] = []
    for column in zip(*value.shapes, strict=True):
        alike = [dim for dim in there if tuple(_at_all(case, dim)) == column]
        varies = len(set(column)) > 1
        if alike and (varies or symbolic):
            dims.append(alike[0])
        elif not varies:
            dims.append(column[0])
        else:
            dims.append(fresh.setdefault(column, _symbol(case, len(fresh))))
    return tuple(dims)


def _symbol(case: Case, number: int) -> str:
    """The name of the symbol ``number`` of those that ``case`` does not have."""
    names = (f"s{at}" for at in count())
    return next(islice((name for name in names if name not in case.program.symbols), number, None))


def _at_all(case: Case, dim: Dim) -> Iterator[int]:
    for binding in case.bindings:
        yield evaluate(dim, binding)
