"""Steps that make values simpler: attributes, layouts, dtypes, and what inputs hold."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import msgspec

from generators import dims
from generators.dims import Dim
from generators.layouts import parts
from generators.program import (
    DTYPES,
    Attribute,
    Case,
    Input,
    Literal,
    LongestSegment,
    Node,
    Offsets,
    Random,
    ShapeValue,
)
from harness.reduction.simplicity import PLAIN_DTYPE, elements, number
from harness.reduction.steps import Known, candidate, remade, smaller, with_input, with_node

_WRITTEN_OUT = 64
"""An input of more elements is not written out."""
_ONE_BY_ONE = 16
"""The elements of one that has more are not made simpler one by one."""


def attributes(case: Case, known: Known) -> Iterator[Case]:
    """Without all attributes; without those at their default; without one; with a simpler one."""
    for node in case.program.nodes:
        if node.attributes:
            yield from _with_attributes(case, node, {})
    for node in case.program.nodes:
        default = known.defaults.get(node.operator, {})
        off = {name: one for name, one in node.attributes.items() if default.get(name) != one}
        yield from _with_attributes(case, node, off)
    for node in case.program.nodes:
        for name in node.attributes:
            others = {key: one for key, one in node.attributes.items() if key != name}
            yield from _with_attributes(case, node, others)
    for node in case.program.nodes:
        for name, value in node.attributes.items():
            for simpler in _simpler(value, known.defaults.get(node.operator, {}).get(name)):
                yield from _with_attributes(case, node, {**node.attributes, name: simpler})


def _with_attributes(case: Case, node: Node, left: Mapping[str, Attribute]) -> Iterator[Case]:
    called = msgspec.structs.replace(node, attributes=dict(left))
    yield from candidate(partial(remade, case, nodes=with_node(case, called)))


def _simpler(value: Attribute, default: Attribute) -> Iterator[Attribute]:
    """Values between ``default`` and ``value``, those next to it first."""
    match value:
        case bool():
            return
        case int():
            yield from (int(number(default)), 1, 2, 3, value // 2, value - 1)
        case float():
            yield from (1.0, 0.5, 2.0, float(round(value)))
        case ShapeValue(dims=shape):
            for at, dim in enumerate(shape):
                for size in smaller(dim) if isinstance(dim, int) else ():
                    yield ShapeValue((*shape[:at], size, *shape[at + 1 :]))
        case tuple() if value:
            wanted = tuple(int(one) for one in elements(default, len(value)))
            if isinstance(default, tuple) and len(default) < len(value):
                yield wanted[: len(default)]
                yield value[: len(default)]
            for step in (0, 1, 2):
                yield tuple(min(one, to + step) for one, to in zip(value, wanted, strict=True))
            for at, to in enumerate(wanted):
                for one in (to, to + 1, to + 2, value[at] - 1):
                    yield (*value[:at], one, *value[at + 1 :])


def layouts(case: Case, known: Known) -> Iterator[Case]:
    """An attribute that is a layout gone, and the arguments it is of in the default layout."""
    for node in case.program.nodes:
        default = known.defaults.get(node.operator, {})
        for name, value in node.attributes.items():
            to = default.get(name)
            if not (isinstance(value, str) and isinstance(to, str)):
                continue
            left = {key: one for key, one in node.attributes.items() if key != name}
            called = msgspec.structs.replace(node, attributes=left)
            for argument in dict.fromkeys(node.arguments):
                given = [one for one in case.program.inputs if one.name == argument]
                if given:
                    yield from candidate(partial(_relaid, case, called, given[0], value, to))


def _relaid(case: Case, called: Node, given: Input, old: str, new: str) -> Case:
    """``case`` with the node ``called`` changed, and its input ``given`` in the layout ``new``.

    Raises:
        ValueError: ``given`` is not in the layout ``old``, or has no place in ``new``.
    """
    extents: dict[str, Dim] = {}
    for (letter, factor), dim in zip(parts(old), given.shape, strict=True):
        if factor and factor != dim:
            raise ValueError(f"an inner dimension of {old} is {dim}")
        before = extents.get(letter, 1)
        extents[letter] = dim if before == 1 else dims.canonical(f"({before}) * ({dim})")
    shape = tuple(extents.pop(letter) for letter, factor in parts(new) if not factor)
    if extents or len(shape) != len(parts(new)):
        raise ValueError(f"{old} and {new} are not of the same axes")
    fill = given.fill if isinstance(given.fill, Random) else Random()
    changed = msgspec.structs.replace(given, shape=shape, fill=fill)
    return remade(case, inputs=with_input(case, changed), nodes=with_node(case, called))


def dtypes(case: Case, known: Known) -> Iterator[Case]:
    """float32 for other dtypes, everywhere or in one input, also without attributes of dtypes."""
    there = [given for given in case.program.inputs if _may_be_float(given)]
    chosen = [
        *([one for one in there if one.dtype == dtype] for dtype in _distinct(there)),
        *([one] for one in there),
    ]
    nameless = [
        msgspec.structs.replace(
            node,
            attributes={name: one for name, one in node.attributes.items() if one not in DTYPES},
        )
        for node in case.program.nodes
    ]
    for some in ([*there], *chosen):
        names = {one.name for one in some}
        inputs = [
            msgspec.structs.replace(one, dtype=PLAIN_DTYPE) if one.name in names else one
            for one in case.program.inputs
        ]
        for nodes in (case.program.nodes, nameless):
            yield from candidate(partial(remade, case, inputs=inputs, nodes=nodes))


def _distinct(given: Sequence[Input]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.dtype for one in given))


def _may_be_float(given: Input) -> bool:
    index = isinstance(given.fill, Offsets | LongestSegment)
    return given.dtype != PLAIN_DTYPE and not index


def constants(case: Case, known: Known) -> Iterator[Case]:
    """All constants given at run time; one of them."""
    there = [one.name for one in case.program.inputs if one.constant]
    for names in (there, *([name] for name in there)):
        inputs = [
            msgspec.structs.replace(one, constant=one.constant and one.name not in names)
            for one in case.program.inputs
        ]
        yield from candidate(partial(remade, case, inputs=inputs))


def fills(case: Case, known: Known) -> Iterator[Case]:
    """Ones, or zeros, in all inputs, or in one; drawn ones; values written out made simpler."""
    if not known.ran:
        return
    small = {
        given.name: count
        for given in case.program.inputs
        if isinstance(given.fill, Random | Literal) and (count := _elements(given)) is not None
    }
    for value in (1, 0):
        yield from _filled(case, {name: (value,) * count for name, count in small.items()})
    for name, count in small.items():
        for value in (1, 0):
            yield from _filled(case, {name: (value,) * count})
    for given in case.program.inputs:
        if not isinstance(given.fill, Literal):
            continue
        drawn = msgspec.structs.replace(given, fill=Random())
        yield from candidate(partial(remade, case, inputs=with_input(case, drawn)))
        values = given.fill.values
        for at in range(len(values) if len(values) <= _ONE_BY_ONE else 0):
            for value in (1, 0, round(values[at]) if abs(values[at]) < 1e6 else 2):
                yield from _filled(case, {given.name: (*values[:at], value, *values[at + 1 :])})


def _filled(case: Case, values: Mapping[str, Sequence[int | float]]) -> Iterator[Case]:
    inputs = [
        msgspec.structs.replace(one, fill=Literal(tuple(values[one.name])))
        if one.name in values
        else one
        for one in case.program.inputs
    ]
    yield from candidate(partial(remade, case, inputs=inputs))


def _elements(given: Input) -> int | None:
    """How many elements ``given`` has, where it is static and they are few."""
    count = 1
    for dim in given.shape:
        if not isinstance(dim, int):
            return None
        count *= dim
    return count if count <= _WRITTEN_OUT else None
