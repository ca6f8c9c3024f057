"""Every record by itself: its points build valid programs, and every oracle agrees on them."""

import random
from typing import Any

import msgspec
import numpy as np
import pytest

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.dims import evaluate, symbols
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import own_sizes, shape
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.record import Operator
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference.evaluate import evaluate as reference

PLAIN = {name: record for name, record in OPERATORS.items() if record.own is None}
"""Those whose operand has the usual axes."""


def point_of(record: Operator, source: random.Random) -> Point:
    point: dict[str, Any] = {}
    for axis in record.family_axes:
        choices = axis.choices(point)
        assert choices, f"no value of {axis.name} at {point}"
        point[axis.name] = source.choice(choices)
    return point


def draft_of(record: Operator, point: Point) -> Draft:
    dtype = str(point["dtype"]).partition("->")[0]
    if record.own is None:
        draft = Draft(dtype)
        record.apply(draft, draft.start(shape(point)), point)
        return draft
    draft = Draft(dtype, most=10**9, as_written=True)
    record.apply(draft, record.own.start(draft, point), point)
    return draft


def row_of(record: Operator, draft: Draft, point: Point) -> dict[str, int]:
    """A binding to run the program at."""
    if record.own is not None:
        return dict(record.own.bindings(point)[-1])
    legal = draft.legal()
    row = legal[len(legal) // 2]
    return {key: row[key] for key in draft.program().symbols}


def stated_sizes(value: Value, row: dict[str, int], actual: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of ``value`` at ``row``; where values decide a size, the actual one."""
    assert len(value.shape) == len(actual), value
    return tuple(
        evaluate(dim, row) if symbols(dim) <= row.keys() else size
        for dim, size in zip(value.shape, actual, strict=True)
    )


@pytest.mark.parametrize("name", PLAIN)
def test_every_point_has_a_program(name: str) -> None:
    record = PLAIN[name]
    source = random.Random(0)
    for _ in range(200):
        point = point_of(record, source)
        draft = draft_of(record, point)
        assert name in {node.operator for node in draft.nodes}, point
        own = own_sizes(point)
        assert any(draft.allows({**row, **own}) for row in draft.legal()), point


@pytest.mark.parametrize(
    "name", ["nn.batch_norm", "nn.group_norm", "nn.instance_norm", "nn.layer_norm", "nn.rms_norm"]
)
def test_scales_have_the_dtype_of_the_data_where_a_graph_cast_them(name: str) -> None:
    point = {axis.name: axis.default for axis in PLAIN[name].family_axes}
    draft = Draft("float16")
    PLAIN[name].apply(draft, draft.input((2, 3, 4, 5), "float64"), point)
    assert {tensor.dtype for tensor in draft.inputs} == {"float64"}


@pytest.mark.parametrize("name", OPERATORS)
def test_the_shapes_and_dtypes_are_those_of_every_oracle(name: str) -> None:
    record = OPERATORS[name]
    source = random.Random(1)
    for seed in range(12):
        point = point_of(record, source)
        draft = draft_of(record, point)
        program = draft.program()
        nodes = tuple(node.name for node in program.nodes)
        whole = msgspec.structs.replace(program, outputs=nodes)
        row = row_of(record, draft, point)
        regime = ("normal", "exact", "moderate", "boundary", "special")[seed % 5]
        case = Case(name, whole, bindings=(row,), regime=regime, seed=seed)
        values, plain = arrays(case, 0), static(whole, row)
        wanted = reference(plain, values)
        stated = {value.name: value for value in draft.values}
        for node, bounded in zip(nodes, wanted, strict=True):
            dims = stated_sizes(stated[node], row, bounded.value.shape)
            assert bounded.value.shape == dims, (point, node)
            assert bounded.dtype == stated[node].dtype, (point, node)
        for oracle in ORACLES.values():
            try:
                answers = oracle(plain, values)
            except Unsupported:
                continue
            for node, answer, bounded in zip(nodes, answers, wanted, strict=True):
                assert np.shape(answer) == bounded.value.shape, (point, node)
                compared = within(answer, bounded)
                assert compared.ok, (point, row, regime, node, compared)
