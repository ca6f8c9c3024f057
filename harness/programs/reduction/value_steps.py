"""Steps that make values simpler: attributes, layouts, dtypes, and values of inputs."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import msgspec

from relaxcheck.generators.calls import required
from relaxcheck.generators.core import dims
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Literal, LongestSegment, Offsets, Random
from relaxcheck.generators.core.layouts import familiar_alternatives, parts
from relaxcheck.generators.core.program import (
    DTYPES,
    ITEM,
    Attribute,
    Case,
    Input,
    Node,
    ShapeValue,
)
from relaxcheck.harness.programs.reduction.simplicity import PLAIN_DTYPE, elements, number
from relaxcheck.harness.programs.reduction.steps import (
    Knowledge,
    candidate,
    remade,
    smaller,
    with_input,
    with_node,
)

WRITTEN_OUT = 64
"""The most elements of an input that is written out."""
_ONE_BY_ONE = 16
"""The most elements of an input whose elements are simplified one by one."""


def attributes(case: Case, known: Knowledge) -> Iterator[Case]:
    """Without all attributes; without those at their default; without one; with a simpler one."""
    for node in case.program.nodes:
        if node.attributes:
            yield from _with_attributes(case, node, {})
    for node in case.program.nodes:
        default = known.defaults.get(node.operator, {})
        off = {name: kept for name, kept in node.attributes.items() if default.get(name) != kept}
        yield from _with_attributes(case, node, off)
    for node in case.program.nodes:
        for name in node.attributes:
            others = {key: kept for key, kept in node.attributes.items() if key != name}
            yield from _with_attributes(case, node, others)
    for node in case.program.nodes:
        for name, value in node.attributes.items():
            for simpler in _simpler(value, known.defaults.get(node.operator, {}).get(name)):
                yield from _with_attributes(case, node, {**node.attributes, name: simpler})


def _with_attributes(case: Case, node: Node, left: Mapping[str, Attribute]) -> Iterator[Case]:
    # The item that a program takes of a tuple is no attribute: without it the value is the tuple.
    item = {name: value for name, value in node.attributes.items() if name == ITEM}
    called = msgspec.structs.replace(node, attributes={**left, **item})
    yield from candidate(partial(remade, case, nodes=with_node(case, called)))


def _simpler(value: Attribute, default: Attribute) -> Iterator[Attribute]:
    """Values between ``default`` and ``value``, those nearest to ``default`` first."""
    match value:
        case bool():
            return
        case str():
            yield from familiar_alternatives(value)
        case int():
            yield from (int(number(default)), 1, 2, 3, value // 2, value - 1)
        case float():
            yield from (1.0, 0.5, 2.0, float(round(value)))
        case ShapeValue(dims=shape):
            for at, dim in enumerate(shape):
                for size in smaller(dim) if isinstance(dim, int) else ():
                    yield ShapeValue((*shape[:at], size, *shape[at + 1 :]))
        case tuple() if value:
            wanted = tuple(int(wanted_value) for wanted_value in elements(default, len(value)))
            if isinstance(default, tuple) and len(default) < len(value):
                yield wanted[: len(default)]
                yield value[: len(default)]
            for step in (0, 1, 2):
                yield tuple(
                    min(element, to + step) for element, to in zip(value, wanted, strict=True)
                )
            for at, to in enumerate(wanted):
                for element in (to, to + 1, to + 2, value[at] - 1):
                    yield (*value[:at], element, *value[at + 1 :])


def layouts(case: Case, known: Knowledge) -> Iterator[Case]:
    """A call without an attribute that is a layout, and an argument in the default layout."""
    for node in case.program.nodes:
        for name in node.attributes:
            yield from _in_default_layout(case, known, node, name, node.arguments)


def own_layout(case: Case, known: Knowledge, node: Node, name: str) -> Iterator[Case]:
    """The call ``node`` without its layout ``name``, and the argument that it is of in the default.

    A layout of a batch is that of the first argument, one of output channels that of the second.
    """
    letters = {letter for letter, _ in parts(str(node.attributes[name]))}
    kernel = "O" in letters and "N" not in letters
    of = node.arguments[1:2] if kernel else node.arguments[:1]
    yield from _in_default_layout(case, known, node, name, of)


def _in_default_layout(
    case: Case, known: Knowledge, node: Node, name: str, arguments: Sequence[str]
) -> Iterator[Case]:
    """``node`` without its layout ``name``, and one of ``arguments`` in the default layout."""
    value, to = node.attributes[name], known.defaults.get(node.operator, {}).get(name)
    if not (isinstance(value, str) and isinstance(to, str)):
        return
    left = {key: kept for key, kept in node.attributes.items() if key != name}
    called = msgspec.structs.replace(node, attributes=left)
    for argument in dict.fromkeys(arguments):
        for tensor in case.program.inputs:
            if tensor.name == argument:
                yield from candidate(partial(_relaid, case, called, tensor, value, to))


def _relaid(case: Case, called: Node, tensor: Input, old: str, new: str) -> Case:
    """``case`` with the node ``called`` changed, and its input ``tensor`` in the layout ``new``.

    Raises:
        ValueError: ``tensor`` is not in the layout ``old``, or has no place in ``new``.
    """
    extents: dict[str, Dim] = {}
    for (letter, factor), dim in zip(parts(old), tensor.shape, strict=True):
        if factor and factor != dim:
            raise ValueError(f"an inner dimension of {old} is {dim}")
        before = extents.get(letter, 1)
        extents[letter] = dim if before == 1 else dims.canonical(f"({before}) * ({dim})")
    shape = tuple(extents.pop(letter) for letter, factor in parts(new) if not factor)
    if extents or len(shape) != len(parts(new)):
        raise ValueError(f"{old} and {new} are not of the same axes")
    fill = tensor.fill if isinstance(tensor.fill, Random) else Random()
    changed = msgspec.structs.replace(tensor, shape=shape, fill=fill)
    return remade(case, inputs=with_input(case, changed), nodes=with_node(case, called))


def dtypes(case: Case, known: Knowledge) -> Iterator[Case]:
    """float32 for other dtypes, everywhere or in one input, also without attributes of dtypes.

    An attribute that a call has to have stays.
    """
    there = [tensor for tensor in case.program.inputs if _may_be_float(tensor)]
    chosen = [
        *([tensor for tensor in there if tensor.dtype == dtype] for dtype in _distinct(there)),
        *([tensor] for tensor in there),
    ]
    nameless = [
        msgspec.structs.replace(
            node,
            attributes={
                name: value
                for name, value in node.attributes.items()
                if value not in DTYPES or name in required(node.operator)
            },
        )
        for node in case.program.nodes
    ]
    for some in ([*there], *chosen):
        names = {tensor.name for tensor in some}
        inputs = [
            msgspec.structs.replace(tensor, dtype=PLAIN_DTYPE) if tensor.name in names else tensor
            for tensor in case.program.inputs
        ]
        for nodes in (case.program.nodes, nameless):
            yield from candidate(partial(remade, case, inputs=inputs, nodes=nodes))


def _distinct(tensors: Sequence[Input]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tensor.dtype for tensor in tensors))


def _may_be_float(tensor: Input) -> bool:
    index = isinstance(tensor.fill, Offsets | LongestSegment)
    return tensor.dtype != PLAIN_DTYPE and not index


def constants(case: Case, known: Knowledge) -> Iterator[Case]:
    """All constants given at run time; one of them."""
    there = [tensor.name for tensor in case.program.inputs if tensor.constant]
    for names in (there, *([name] for name in there)):
        inputs = [
            msgspec.structs.replace(tensor, constant=tensor.constant and tensor.name not in names)
            for tensor in case.program.inputs
        ]
        yield from candidate(partial(remade, case, inputs=inputs))


def fills(case: Case, known: Knowledge) -> Iterator[Case]:
    """Ones, or zeros, in all inputs, or in one; drawn ones; values written out made simpler."""
    if not known.ran:
        return
    small = {
        tensor.name: count
        for tensor in case.program.inputs
        if isinstance(tensor.fill, Random | Literal) and (count := _elements(tensor)) is not None
    }
    for value in (1, 0):
        yield from _filled(case, {name: (value,) * count for name, count in small.items()})
    for name, count in small.items():
        for value in (1, 0):
            yield from _filled(case, {name: (value,) * count})
    for tensor in case.program.inputs:
        if not isinstance(tensor.fill, Literal):
            continue
        drawn = msgspec.structs.replace(tensor, fill=Random())
        yield from candidate(partial(remade, case, inputs=with_input(case, drawn)))
        values = tensor.fill.values
        for at in range(len(values) if len(values) <= _ONE_BY_ONE else 0):
            for value in (1, 0, round(values[at]) if abs(values[at]) < 1e6 else 2):
                yield from _filled(case, {tensor.name: (*values[:at], value, *values[at + 1 :])})


def _filled(case: Case, values: Mapping[str, Sequence[int | float]]) -> Iterator[Case]:
    inputs = [
        msgspec.structs.replace(tensor, fill=Literal(tuple(values[tensor.name])))
        if tensor.name in values
        else tensor
        for tensor in case.program.inputs
    ]
    yield from candidate(partial(remade, case, inputs=inputs))


def _elements(tensor: Input) -> int | None:
    """The number of elements of ``tensor`` if it is static and has few; else None."""
    count = 1
    for dim in tensor.shape:
        if not isinstance(dim, int):
            return None
        count *= dim
    return count if count <= WRITTEN_OUT else None
