"""Steps that make the structure of a program simpler: conditionals, functions, tuples, blocks."""

from collections.abc import Iterator
from functools import partial

import msgspec

from relaxcheck.generators.core.program import CALL, Case, Node, Program
from relaxcheck.generators.core.rewrites.inlining import inlined, items_of, taken, with_nodes
from relaxcheck.generators.core.structure import BRANCH, ELEMENT, TUPLE, without_tuples
from relaxcheck.harness.programs.reduction.steps import Knowledge, candidate, remade


def structure(case: Case, known: Knowledge) -> Iterator[Case]:
    """Without tuples, conditionals, calls and blocks: all at once, then one by one."""
    program = case.program
    yield from _with(case, partial(_plain, program))
    if any(node.operator == TUPLE for node in program.nodes):
        yield from _with(case, partial(_without_tuples, program))
    if program.apart:
        yield from _with(case, partial(msgspec.structs.replace, program, apart=()))
        for name in program.apart:
            others = tuple(other for other in program.apart if other != name)
            yield from _with(case, partial(msgspec.structs.replace, program, apart=others))
    for node in program.nodes:
        if node.operator == BRANCH:
            for branch in ("function", "otherwise"):
                yield from _with(case, partial(_taken, program, node, branch))
        elif node.operator == CALL:
            yield from _with(case, partial(inlined, program, node.name))
        elif node.operator in (TUPLE, ELEMENT):
            yield from _with(case, partial(_shorter, program, node))
    for name, function in program.functions.items():
        for smaller in _smaller(function):
            changed = {**program.functions, name: smaller}
            yield from _with(case, partial(msgspec.structs.replace, program, functions=changed))


def _with(case: Case, make: "partial[Program]") -> Iterator[Case]:
    for made in candidate(lambda: _of(case, make())):
        if made.program != case.program:
            yield made


def _of(case: Case, program: Program) -> Case:
    changed = msgspec.structs.replace(case, program=program, at=msgspec.UNSET)
    return remade(changed)


def _plain(program: Program) -> Program:
    """``program`` without any structure: of a conditional the first branch is left."""
    plain = _without_tuples(program)
    while branches := [node for node in plain.nodes if node.operator == BRANCH]:
        plain = _taken(plain, branches[0], "function")
    while calls := [node for node in plain.nodes if node.operator == CALL]:
        plain = inlined(plain, calls[0].name)
    return msgspec.structs.replace(plain, apart=())


def _without_tuples(program: Program) -> Program:
    nodes, same = without_tuples(program.nodes)
    renamed = [
        msgspec.structs.replace(
            node, arguments=tuple(same.get(name, name) for name in node.arguments)
        )
        for node in nodes
    ]
    outputs = tuple(dict.fromkeys(same.get(name, name) for name in program.outputs))
    kept = {node.name for node in renamed}
    apart = tuple(name for name in program.apart if name in kept)
    return msgspec.structs.replace(program, nodes=tuple(renamed), outputs=outputs, apart=apart)


def _taken(program: Program, node: Node, branch: str) -> Program:
    """``program`` with a call of one branch in place of the conditional that ``node`` is of."""
    items = items_of(program, node.name)
    nodes = [taken(each, branch) if each in items else each for each in program.nodes]
    return with_nodes(program, nodes)


def _shorter(program: Program, node: Node) -> Program:
    """``program`` with the elements of the tuple ``node`` that nothing takes left out."""
    if node.operator != TUPLE or len(node.arguments) < 2:
        raise ValueError("no tuple of several elements")
    used = sorted(
        {
            each.attributes["at"]
            for each in program.nodes
            if each.operator == ELEMENT and each.arguments == (node.name,)
        },
        key=str,
    )
    if any(node.name in each.arguments for each in program.nodes if each.operator != ELEMENT):
        raise ValueError("another tuple has this one")
    places = {at: new for new, at in enumerate(used)}
    arguments = tuple(node.arguments[int(str(at))] for at in used)
    nodes = []
    for each in program.nodes:
        if each is node:
            each = msgspec.structs.replace(node, arguments=arguments)
        elif each.operator == ELEMENT and each.arguments == (node.name,):
            each = msgspec.structs.replace(each, attributes={"at": places[each.attributes["at"]]})
        nodes.append(each)
    return msgspec.structs.replace(program, nodes=tuple(nodes))


def _smaller(function: Program) -> Iterator[Program]:
    """Yield ``function`` with each node replaced by each of its arguments in turn."""
    for node in function.nodes:
        for argument in dict.fromkeys(node.arguments):
            if node.name in function.outputs and argument not in {
                each.name for each in function.nodes
            }:
                continue
            names = {node.name: argument}
            others = [
                msgspec.structs.replace(
                    each, arguments=tuple(names.get(name, name) for name in each.arguments)
                )
                for each in function.nodes
                if each is not node
            ]
            outputs = tuple(names.get(name, name) for name in function.outputs)
            yield from _made(function, others, outputs)


def _made(function: Program, nodes: list[Node], outputs: tuple[str, ...]) -> Iterator[Program]:
    try:
        made = msgspec.structs.replace(function, nodes=tuple(nodes), outputs=outputs)
    except ValueError:
        return
    if made.symbols == function.symbols:
        yield made
