"""A program at one binding: every dimension a number, every function written out.

That is what an oracle is given: it needs no binding, and knows operators only.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from relaxcheck.generators.core.called import meanings as called_functions
from relaxcheck.generators.core.called.meanings import CALLS
from relaxcheck.generators.core.called.tir_functions import CALL_TIR, meant
from relaxcheck.generators.core.dims import evaluate, symbols
from relaxcheck.generators.core.fills.kinds import Below, Fill, Misfit, Offsets
from relaxcheck.generators.core.program import (
    CALL,
    CLOSURES,
    ITEM,
    Attribute,
    Node,
    Program,
    ShapeValue,
    called,
)
from relaxcheck.generators.core.structure import BRANCH, ELEMENT, TUPLE, without_tuples


def static(program: Program, binding: Mapping[str, int]) -> Program:
    """``program`` with every dimension at its value under ``binding``.

    Attributes that are shapes become lists of integers, and calls of functions what these do: of
    those of TIR, and of packed ones, the operators that compute the same. Of a conditional both
    branches are computed, and ``where`` chooses. No value is a tuple. Symbols that the program
    counts remain.

    Raises:
        KeyError: a symbol has no value.
    """
    if _is_static(program):
        return program
    inputs = tuple(
        msgspec.structs.replace(
            tensor,
            shape=tuple(evaluate(dim, binding) for dim in tensor.shape),
            fill=_static_fill(tensor.fill, binding),
        )
        for tensor in program.inputs
    )
    nodes: list[Node] = []
    own, same = without_tuples(program.nodes)
    for node in own:
        if same:
            arguments = tuple(same.get(name, name) for name in node.arguments)
            node = msgspec.structs.replace(node, arguments=arguments)
        if node.operator == CALL_TIR:
            nodes.append(meant(node))
            continue
        plain = msgspec.structs.replace(
            node, attributes=_static(node.attributes, binding, program.counted)
        )
        if node.operator in (CALL, *CLOSURES):
            nodes += _inlined(plain, program.functions)
        elif node.operator == BRANCH:
            nodes += _chosen(plain, program.functions)
        elif node.operator in CALLS:
            nodes += called_functions.meant(plain)
        else:
            nodes.append(plain)
    outputs = tuple(same.get(name, name) for name in program.outputs)
    return Program(inputs, tuple(nodes), outputs, counted=program.counted)


def _is_static(program: Program) -> bool:
    values = (value for node in program.nodes for value in node.attributes.values())
    shapes = any(isinstance(value, ShapeValue) for value in values)
    tuples = any(node.operator in (TUPLE, ELEMENT) for node in program.nodes)
    return not (program.symbols or program.functions or shapes or tuples or program.apart)


def _static_fill(fill: Fill, binding: Mapping[str, int]) -> Fill:
    match fill:
        case Offsets(total=total):
            return Offsets(evaluate(total, binding))
        case Below(limit=limit):
            return msgspec.structs.replace(fill, limit=evaluate(limit, binding))
        case Misfit(shape=shape):
            return Misfit(tuple(evaluate(dim, binding) for dim in shape))
    return fill


def _static(
    attributes: Mapping[str, Attribute], binding: Mapping[str, int], counted: Sequence[str]
) -> dict[str, Attribute]:
    return {
        name: _evaluated(value, binding, counted) if isinstance(value, ShapeValue) else value
        for name, value in attributes.items()
    }


def _evaluated(shape: ShapeValue, binding: Mapping[str, int], counted: Sequence[str]) -> Attribute:
    sizes = tuple(
        dim if symbols(dim).intersection(counted) else evaluate(dim, binding) for dim in shape.dims
    )
    numbers = tuple(size for size in sizes if isinstance(size, int))
    return numbers if len(numbers) == len(sizes) else ShapeValue(sizes)


def _inlined(node: Node, functions: Mapping[str, Program]) -> Iterator[Node]:
    """Yield the nodes of the function that ``node`` calls, evaluated, in the caller's names."""
    function, sizes = called(node, functions)
    plain = static(function, dict(zip(function.symbols, map(int, sizes), strict=True)))
    names = {callee.name: f"{node.name}__{callee.name}" for callee in plain.nodes}
    item = node.attributes.get(ITEM, 0)
    assert isinstance(item, int)
    names[plain.outputs[item]] = node.name
    inputs = (tensor.name for tensor in plain.inputs)
    names |= dict(zip(inputs, node.arguments, strict=True))
    for callee in plain.nodes:
        arguments = tuple(names[argument] for argument in callee.arguments)
        yield msgspec.structs.replace(callee, name=names[callee.name], arguments=arguments)


def _chosen(node: Node, functions: Mapping[str, Program]) -> Iterator[Node]:
    """Yield the nodes of both branches of ``node``, and the choice between their results."""
    condition, *operands = node.arguments
    results = []
    for branch in ("function", "otherwise"):
        attributes = {**node.attributes, "function": node.attributes[branch]}
        name = f"{node.name}__{branch}"
        yield from _inlined(Node(name, CALL, tuple(operands), attributes), functions)
        results.append(name)
    yield Node(node.name, "where", (condition, *results))
