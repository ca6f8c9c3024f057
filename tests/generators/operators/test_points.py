"""Points of every record: no value of an axis is idle, and calls are as the record declares."""

import random
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import msgspec
import pytest

from relaxcheck.generators.core.axes import Axis, Point, is_valid
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.draft import Draft, Unfit, shape_value
from relaxcheck.generators.core.draft import Value as DraftValue
from relaxcheck.generators.core.program import DTYPES, ITEM, Case, ShapeValue
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.graphs.starts import shapes
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import drafted
from relaxcheck.generators.operators.record import REQUIRED, Operator
from relaxcheck.oracles.reference.evaluate import evaluate as reference
from tests.generators.operators.test_records import stated_sizes

FEW, MANY, BESIDE = 3, 150, 5
"""Points at which values are compared, more where they are alike so far, and values at a point."""

COUNTED = {("dynamic_strided_slice", "axis")}
"""The axes that choose a dimension no attribute names: -1 and 3 are one in a rank of 4."""


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _list(value: Any) -> bool:
    return isinstance(value, tuple) and all(map(_number, value))


TYPES: dict[str, Callable[[Any], bool]] = {
    "bool": lambda value: isinstance(value, bool),
    "int": _number,
    "float": lambda value: isinstance(value, float) or _number(value),
    "text": lambda value: isinstance(value, str),
    "dtype": lambda value: value in (*DTYPES, "void"),
    "layout": lambda value: isinstance(value, str) and bool(re.fullmatch("[A-Za-z0-9]+", value)),
    "axis": _number,
    "axes": lambda value: _number(value) or _list(value),
    "ints": lambda value: _number(value) or _list(value),
    "shape": lambda value: _list(value) or isinstance(value, ShapeValue),
    "expressions": lambda value: _list(value) or isinstance(value, ShapeValue),
    "extent": lambda value: isinstance(value, int | float | ShapeValue),
    "value": lambda value: isinstance(value, int | float | ShapeValue),
    "constant": lambda value: isinstance(value, int | float),
    "index_map": lambda value: isinstance(value, str) and ":" in value,
}
"""By an attribute's declared type, whether a value is of it."""


def _drawn(record: Operator, source: random.Random) -> dict[str, Value]:
    point: dict[str, Value] = {}
    for axis in record.family_axes:
        point[axis.name] = source.choice(axis.choices(point))
    return point


def _program(record: Operator, point: Point) -> bytes:
    program, bindings = drafted(record, point)
    return msgspec.json.encode((program, bindings))


def _alternatives(
    record: Operator, point: Point, axis: Axis, source: random.Random
) -> Iterator[tuple[Value, bytes]]:
    values = [value for value in axis.values if value != point[axis.name]]
    for value in (point[axis.name], *source.sample(values, min(len(values), BESIDE))):
        changed = {**point, axis.name: value}
        if is_valid(record.family_axes, changed):
            yield value, _program(record, changed)


@pytest.mark.parametrize("name", OPERATORS)
def test_no_two_values_of_an_axis_always_make_the_same_program(name: str) -> None:
    record, source = OPERATORS[name], random.Random(2)
    points = [_drawn(record, source) for _ in range(MANY)]
    alike = []
    for axis in record.family_axes:
        if (name, axis.name) in COUNTED:
            continue
        pairs = set(map(frozenset, combinations(map(repr, axis.values), 2)))
        tried: set[frozenset[str]] = set()
        for number, point in enumerate(points):
            if number >= FEW and not pairs & tried:
                break
            made = [
                (repr(value), text) for value, text in _alternatives(record, point, axis, source)
            ]
            for (left, one), (right, other) in combinations(made, 2):
                tried.add(frozenset((left, right)))
                if one != other:
                    pairs.discard(frozenset((left, right)))
        alike += [(axis.name, *sorted(pair)) for pair in pairs & tried]
    assert not alike


@pytest.mark.parametrize("name", OPERATORS)
def test_calls_have_the_attributes_that_the_record_declares(name: str) -> None:
    record, source = OPERATORS[name], random.Random(3)
    declared = {attribute.name: attribute for attribute in record.attributes}
    needed = {each for each, attribute in declared.items() if attribute.default is REQUIRED}
    for _ in range(40):
        program, _ = drafted(record, _drawn(record, source))
        for node in program.nodes:
            if node.operator != name:
                continue
            given = node.attributes.keys() - {ITEM}
            assert given <= declared.keys(), node
            # A shape may be an operand instead.
            assert needed <= given or len(node.arguments) > len(record.operands), node
            for each in given:
                value, attribute = node.attributes[each], declared[each]
                if value != attribute.default:
                    assert TYPES[attribute.type](value), (each, value)
    for attribute in record.attributes:
        assert attribute.type in TYPES


def _fits(draft: Draft, record: Operator, value: DraftValue, source: random.Random) -> bool:
    """Apply the record to ``value`` as a graph does, at a random point."""
    point = dict(record.facts(value))
    for axis in record.drawn_axes:
        if axis.name in point:
            continue
        values = axis.choices(point)
        if not values:
            return False
        point[axis.name] = source.choice(values)
    try:
        record.apply(draft, value, point)
    except Unfit:
        return False
    return True


VOLUMES = ((2, 3, 4, 5, 4), ("b", 2, 4, "m", 5))
"""Shapes of rank 5, of which graphs begin with none."""

IN_GRAPHS = [name for name, record in OPERATORS.items() if record.is_in_graphs]


@pytest.mark.parametrize("name", IN_GRAPHS)
def test_on_any_value_of_a_graph_a_record_states_the_right_shapes(name: str) -> None:
    record, source = OPERATORS[name], random.Random(4)
    fitting = 0
    for seed in range(20):
        # The first operand of the program has another dtype than the record's operand.
        draft = Draft(source.choice(("float32", "float64", "float16", "int8")))
        kind = source.choice(record.hand.dtypes)
        known = (*shapes(record.hand.ranks, symbolic=seed % 3 > 0), *VOLUMES)
        shape = source.choice([shape for shape in known if len(shape) in record.hand.ranks])
        value = draft.start(shape, kind)
        if seed % 2:
            value = draft.call("reshape", [value], shape, shape=shape_value(shape))
        try:
            fits = _fits(draft, record, value, source)
        except Unfit:
            continue
        legal = draft.legal()
        if not fits or not legal:
            continue
        fitting += 1
        assert set(draft.unsettled) <= set(draft.values)
        program = draft.program()
        nodes = tuple(node.name for node in program.nodes)
        whole = msgspec.structs.replace(program, outputs=nodes)
        for row in {tuple(row.items()): row for row in (legal[0], legal[len(legal) // 3])}.values():
            bound = {key: row[key] for key in program.symbols}
            case = Case(name, whole, bindings=(bound,), seed=seed)
            wanted = reference(static(whole, bound), arrays(case, 0))
            stated = {each.name: each for each in draft.values}
            for node, bounded in zip(nodes, wanted, strict=True):
                dims = stated_sizes(stated[node], bound, bounded.value.shape)
                assert bounded.value.shape == dims, (program, bound, node)
                assert bounded.dtype == stated[node].dtype, (program, node)
    assert fitting, name
