"""Rewritings of a program's nodes that leave its results as they are."""

from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from relaxcheck.generators.calls import form, has_effect
from relaxcheck.generators.core.program import CALL, ITEM, Node, Program
from relaxcheck.generators.core.rewrites.inlining import inlined
from relaxcheck.generators.core.structure import AT, ELEMENT, TUPLE
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.elementwise import activations, unary

_BY_ELEMENT = frozenset(
    each.name
    for each in (*unary.OPERATORS, *activations.OPERATORS)
    if len(each.operands) == 1 and not each.attributes
)
"""Functions of one operand, element by element."""

_FEWEST = 2
"""The least elements along an axis that is split."""


def computed_again(program: Program, choices: Choices) -> Program:
    """``program`` where each user of a plain call, after the first, has a call of its own."""
    if program.counted:
        # The sizes of two calls are two unknowns.
        return program
    plain = {node.name for node in program.nodes if _is_plain(node)}
    uses = Counter(name for node in program.nodes for name in node.arguments)
    name_of = _names(program)
    seen: set[str] = set()
    copies: dict[str, list[str]] = {}
    nodes: dict[str, Node] = {}
    for node in program.nodes:
        arguments = []
        for argument in node.arguments:
            if argument in seen and argument in plain:
                copies.setdefault(argument, []).append(name_of(f"{argument}_again"))
                argument = copies[argument][-1]
            elif uses[argument] > 1:
                seen.add(argument)
            arguments.append(argument)
        nodes[node.name] = msgspec.structs.replace(node, arguments=tuple(arguments))
    made: list[Node] = []
    for name, node in nodes.items():
        made.append(node)
        # Right behind it: what it reads may be overwritten later.
        made += [msgspec.structs.replace(node, name=copy) for copy in copies.get(name, ())]
    return msgspec.structs.replace(program, nodes=tuple(made))


def without_calls(program: Program, choices: Choices) -> Program:
    """``program`` with the bodies of its functions in place of their calls."""
    for node in program.nodes:
        if node.operator == CALL and any(each.name == node.name for each in program.nodes):
            try:
                program = inlined(program, node.name)
            except ValueError:
                # Of the call, two nodes are the same item.
                continue
    return program


def with_other_constants(program: Program, choices: Choices) -> Program:
    """``program`` whose constants are passed, and whose static inputs, but for one, constants."""
    run_time = [each for each in program.inputs if not each.constant]
    static = [each for each in run_time if _is_static(program, each.name)]
    constants = [each for each in program.inputs if each.constant]
    kept = static[:1] if len(static) == len(run_time) and not constants else []
    changed = {each.name for each in (*static, *constants)} - {each.name for each in kept}
    inputs = tuple(
        msgspec.structs.replace(each, constant=not each.constant) if each.name in changed else each
        for each in program.inputs
    )
    return msgspec.structs.replace(program, inputs=inputs)


def _is_static(program: Program, name: str) -> bool:
    tensor = msgspec.structs.replace(program.input(name), constant=True)
    others = tuple(tensor if each.name == name else each for each in program.inputs)
    try:
        msgspec.structs.replace(program, inputs=others)
    except ValueError:
        # Its shape or its values depend on symbols, or a gradient is taken in it.
        return False
    return True


def through_a_tuple(program: Program, choices: Choices) -> Program:
    """``program`` whose results are elements of a tuple of them."""
    made = {node.name: node for node in program.nodes}
    tensors = [name for name in dict.fromkeys(program.outputs) if name in made]
    used = {name for node in program.nodes for name in node.arguments}
    tensors = [name for name in tensors if name not in used]
    if not tensors:
        return program
    name_of = _names(program)
    inner = {name: name_of(f"{name}_made") for name in tensors}
    nodes = [
        msgspec.structs.replace(node, name=inner.get(node.name, node.name))
        for node in program.nodes
    ]
    together = name_of("results")
    nodes.append(Node(together, TUPLE, tuple(inner.values())))
    nodes += [Node(name, ELEMENT, (together,), {AT: at}) for at, name in enumerate(tensors)]
    apart = tuple(inner.get(name, name) for name in program.apart)
    return msgspec.structs.replace(program, nodes=tuple(nodes), apart=apart)


def with_dead_code(program: Program, choices: Choices) -> Program:
    """``program`` with a second computation of plain calls, which nothing uses."""
    if program.counted:
        return program
    name_of = _names(program)
    copies: dict[str, str] = {}
    nodes: list[Node] = []
    for node in program.nodes:
        nodes.append(node)
        if _is_plain(node):
            copies[node.name] = name_of(f"{node.name}_unused")
            arguments = tuple(copies.get(name, name) for name in node.arguments)
            nodes.append(msgspec.structs.replace(node, name=copies[node.name], arguments=arguments))
    return msgspec.structs.replace(program, nodes=tuple(nodes))


def split_and_joined(program: Program, choices: Choices) -> Program:
    """``program`` where a function of one input, element by element, is computed in two parts."""
    shapes = {tensor.name: tensor.shape for tensor in program.inputs}
    places = [
        (node, axis, dim)
        for node in program.nodes
        if _is_by_element(node) and node.arguments[0] in shapes
        for axis, dim in enumerate(shapes[node.arguments[0]])
        if isinstance(dim, int) and dim >= _FEWEST
    ]
    if not places:
        return program
    node, axis, dim = choices.choice(places)
    cut = 1 + choices.below(dim - 1)
    name_of = _names(program)
    parts: list[str] = []
    made: list[Node] = []
    for begin, end in ((0, cut), (cut, dim)):
        whole, part = name_of(f"{node.name}_slice"), name_of(f"{node.name}_part")
        bounds = {"axes": (axis,), "begin": (begin,), "end": (end,), "strides": (1,)}
        made.append(Node(whole, "strided_slice", node.arguments, dict(bounds)))
        made.append(msgspec.structs.replace(node, name=part, arguments=(whole,)))
        parts.append(part)
    made.append(Node(node.name, "concat", tuple(parts), {"axis": axis}))
    nodes: list[Node] = []
    for each in program.nodes:
        nodes += made if each is node else [each]
    return msgspec.structs.replace(program, nodes=tuple(nodes))


def _is_by_element(node: Node) -> bool:
    return node.operator in _BY_ELEMENT and len(node.arguments) == 1 and not node.attributes


def _is_plain(node: Node) -> bool:
    """True of a call of an operator of one result that has neither an effect nor a size of its own.

    A call whose result is a shape defines what others depend on.
    """
    record = OPERATORS.get(node.operator)
    return (
        record is not None
        and record.pure
        and form(node.operator) in ("call", "bare")
        and not has_effect(node.operator)
        and ITEM not in node.attributes
        and all(operand.kind == "tensor" for operand in record.operands)
        and "shape" not in node.operator.split("_")
    )


def _names(program: Program) -> Callable[[str], str]:
    """A function that makes a name that nothing has of a wish."""
    taken = {*_used(program)}

    def name_of(wish: str) -> str:
        name = wish
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    return name_of


def _used(program: Program) -> Iterable[str]:
    yield from (tensor.name for tensor in program.inputs)
    yield from (node.name for node in program.nodes)
    yield from program.symbols
