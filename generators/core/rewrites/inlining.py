"""Programs with the body of a function in place of a call of it."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from relaxcheck.generators.core.program import CALL, ITEM, Node, Program, ShapeValue, called
from relaxcheck.generators.core.rewrites.sizes import at_sizes


def inlined(program: Program, name: str) -> Program:
    """``program`` with the body of the function in place of the call that the node ``name`` is.

    The other items of the call go with it. Functions that nothing calls any more are left out.

    Raises:
        ValueError: the node calls no function.
    """
    calls = items_of(program, name)
    made = [*body(calls, program)]
    nodes: list[Node] = []
    for node in program.nodes:
        if node is calls[0]:
            nodes += made
        elif node not in calls:
            nodes.append(node)
    return with_nodes(program, nodes)


def items_of(program: Program, name: str) -> list[Node]:
    """The nodes that are items of the same call as the node ``name``, itself among them."""
    (wanted,) = (node for node in program.nodes if node.name == name)
    key = _call(wanted)
    return [node for node in program.nodes if _call(node) == key]


def _call(node: Node) -> object:
    others = {name: value for name, value in node.attributes.items() if name != ITEM}
    return (node.operator, node.arguments, others, ITEM in node.attributes or node.name)


def with_nodes(program: Program, nodes: Sequence[Node]) -> Program:
    """``program`` with these ``nodes``, without functions that none of them calls."""
    left = {node.name for node in nodes}
    return msgspec.structs.replace(
        program,
        nodes=tuple(nodes),
        functions=functions_of(nodes, program.functions),
        apart=tuple(name for name in program.apart if name in left),
    )


def functions_of(nodes: Sequence[Node], functions: Mapping[str, Program]) -> dict[str, Program]:
    """Those of ``functions`` that ``nodes`` call, or have as branches."""
    wanted = {node.attributes.get(name) for node in nodes for name in ("function", "otherwise")}
    return {name: each for name, each in functions.items() if name in wanted}


def body(calls: Sequence[Node], program: Program) -> Iterator[Node]:
    """Yield the nodes of the function that ``calls`` are items of, in the caller's names.

    Raises:
        ValueError: they call no function, or two of them are the same item.
    """
    first = calls[0]
    if first.operator != CALL:
        raise ValueError(f"node {first.name} calls no function")
    function, dims = called(first, program.functions)
    plain = at_sizes(function, tuple(dims))
    names = {each.name: f"{first.name}_{each.name}" for each in plain.nodes}
    outputs = set()
    for node in calls:
        item = node.attributes.get(ITEM, 0)
        assert isinstance(item, int)
        if plain.outputs[item] in outputs:
            raise ValueError(f"node {node.name} is an item that another node is")
        outputs.add(plain.outputs[item])
        names[plain.outputs[item]] = node.name
    inputs = (tensor.name for tensor in plain.inputs)
    names |= dict(zip(inputs, first.arguments, strict=True))
    for each in plain.nodes:
        arguments = tuple(names[argument] for argument in each.arguments)
        yield msgspec.structs.replace(each, name=names[each.name], arguments=arguments)


def taken(node: Node, branch: str) -> Node:
    """The call of the function that the attribute ``branch`` of a conditional names."""
    attributes = {"function": node.attributes[branch], "sizes": node.attributes["sizes"]}
    if ITEM in node.attributes:
        attributes[ITEM] = node.attributes[ITEM]
    sizes = attributes["sizes"]
    assert isinstance(sizes, tuple | ShapeValue)
    return Node(node.name, CALL, node.arguments[1:], attributes)
