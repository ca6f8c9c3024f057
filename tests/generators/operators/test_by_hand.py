"""Records at a few points, worked out by hand: programs, bindings, and the values of axes."""

import re
from math import prod
from typing import Any, get_args

import pytest

from relaxcheck.generators.core.axes import Point, is_valid
from relaxcheck.generators.core.called.meanings import FUNCTIONS
from relaxcheck.generators.core.dims import symbols
from relaxcheck.generators.core.draft import Unfit
from relaxcheck.generators.core.draft import Value as DraftValue
from relaxcheck.generators.core.fills.drawn import Detections
from relaxcheck.generators.core.fills.kinds import Below, Literal, Positive, Random, Within
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.choices import axis_choice, extent_choice, nonempty_axis
from relaxcheck.generators.operators.family import bindings_of, draft_of
from relaxcheck.generators.operators.record import Form, Numerics
from tests.generators.operators.by_hand import (
    axis_of,
    calls_at,
    choices_at,
    point_at,
    program_at,
)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_record_is_whole(name: str) -> None:
    record = OPERATORS[name]
    (call, *_) = calls_at(name)
    assert record.meaning
    assert record.source
    assert record.numerics in set(Numerics)
    assert record.form in get_args(Form)
    for axis in record.family_axes:
        assert all(axis.has(value) for value in axis.least)
    if record.own is not None:
        assert record.own.names <= {axis.name for axis in record.axes}
    if not any(operand.many for operand in record.operands):
        assert len(call.arguments) <= len(record.operands)
        shapes = {tensor.name: len(tensor.shape) for tensor in program_at(name)[0].inputs}
        dtypes = {tensor.name: tensor.dtype for tensor in program_at(name)[0].inputs}
        for argument, operand in zip(call.arguments, record.operands, strict=False):
            if argument in shapes and operand.kind == "tensor":
                assert shapes[argument] in operand.ranks or not operand.ranks
                assert dtypes[argument] in operand.dtypes
    if call.attributes.get("function") in FUNCTIONS:
        assert len(call.arguments) == FUNCTIONS[str(call.attributes["function"])].arguments


OWN = [name for name, record in OPERATORS.items() if record.own is not None]


@pytest.mark.parametrize("name", OWN)
def test_bindings_of_its_own_meet_all_that_a_program_requires(name: str) -> None:
    record = OPERATORS[name]
    toggles = [axis.name for axis in record.axes if axis.name.startswith("symbolic.")]
    smallest: dict[str, Any] = {}
    for axis in record.axes:
        sizes = [value for value in axis.values if type(value) is int and value > 0]
        chosen = {**smallest, **({axis.name: min(sizes)} if sizes else {})}
        known = [each for each in record.axes if each.name in chosen]
        smallest = chosen if is_valid(known, chosen) else smallest
    for base in ({}, smallest):
        for toggle in toggles:
            try:
                point = point_at(name, {**base, toggle: True})
            except ValueError:
                continue
            draft = draft_of(record, point)
            rows = bindings_of(record, point, draft)
            assert rows
            required = [each for each in draft.required if symbols(each.dim) <= rows[0].keys()]
            assert all(each.holds(row) for each in required for row in rows), (point, rows)


def test_no_graph_calls_functions_of_the_program_or_overwrites_its_values() -> None:
    kinds = re.compile("invoke_|call_.*inplace|call_inplace")
    alone = [name for name in OPERATORS if kinds.match(name)]
    assert len(alone) == 4
    assert not any(OPERATORS[name].is_in_graphs for name in alone)


def test_axes_of_any_rank() -> None:
    every = (-1, 0, 1, 2, 3, 4, -2, -3, -4, -5)
    assert axis_choice().choices({"rank": 5}) == every
    assert axis_choice().choices({"rank": 2}) == (-1, 0, 1, -2)
    sizes = extent_choice("size")
    assert sizes.choices({"rank": 0}) == ()
    # The only dimension is the first one.
    assert sizes.choices({"rank": 1}) == (2, 1, 5, "first", "symbol")
    assert sizes.choices({"rank": 2}) == sizes.values
    assert None in nonempty_axis(all_axes=True).values
    assert None not in nonempty_axis().values


@pytest.mark.parametrize(
    ("name", "axis", "others", "excluded"),
    [
        ("add", "other", {"shape": (2, 3)}, {"wide"}),
        ("add", "other", {"shape": (2, 1)}, {"thin last"}),
        ("add", "other", {"shape": (3,)}, {"wide", "trailing", "thin last"}),
        ("add", "other", {"shape": (2, 3, 4, 5)}, {"wide", "deeper"}),
        ("broadcast_to", "to", {"shape": (2, 3)}, {"widen"}),
        ("broadcast_to", "to", {"shape": (2, 1)}, set()),
        ("median", "axis", {"shape": (1, 2)}, {2, -3}),
        ("median", "axis", {"shape": (0, 2)}, {0, -2, 2, -3, None}),
        ("memory.view", "form", {"shape": (3,), "to": None, "dtype": "float32"}, {"row"}),
        ("memory.view", "form", {"shape": (2, 3), "to": None, "dtype": "float32"}, set()),
        # Six bytes are no whole number of elements of four, in whatever shape.
        (
            *("memory.view", "form", {"shape": (2, 3), "to": "float32", "dtype": "int8"}),
            {"flat", "last", "row", "rest", None},
        ),
        # Four are one, but not along the last axis.
        (
            *("memory.view", "form", {"shape": (2, 2), "to": "float32", "dtype": "int8"}),
            {"last", "row", "rest", None},
        ),
        ("memory.view", "form", {"shape": (2, 4), "to": "float32", "dtype": "int8"}, {None}),
        ("nn.pixel_shuffle", "upscale_factor", {"shape": (4, 5, 6)}, {3}),
        ("nn.pixel_shuffle", "upscale_factor", {"shape": (9, 5, 6)}, {2}),
        ("nn.pad", "before", {"shape": (3,), "pad_mode": "circular", "axis": -1}, set()),
        ("nn.pad", "before", {"shape": (2,), "pad_mode": "circular", "axis": -1}, {3}),
        ("nn.pad", "before", {"shape": (2,), "pad_mode": "reflect", "axis": -1}, {2, 3}),
        ("nn.pad", "axis", {"shape": (0,), "pad_mode": "replicate"}, {-1, 0, 1, 2}),
        ("nn.pad", "axis", {"shape": (1,), "pad_mode": "replicate"}, {0, 1, 2}),
        ("einsum", "size", {"shape": (3,), "subscripts": "i,j->ij"}, set()),
        ("einsum", "size", {"shape": (3,), "subscripts": "i,i"}, {1, 5, "first", "symbol"}),
        ("einsum", "size", {"shape": (), "subscripts": ",i->i"}, {"first"}),
        (
            *("einsum", "batches", {"shape": (2, 3), "subscripts": "...i,i->..."}),
            {"fewer", "none", "ones"},
        ),
        (
            *("einsum", "batches", {"shape": (2, 3), "subscripts": "ij,...jk->...ik"}),
            {"fewer", "none", "ones"},
        ),
        ("einsum", "batches", {"shape": (2, 3), "subscripts": "...ij,...jk->...ik"}, set()),
        ("meshgrid", "indexing", {"shape": (3,)}, {"xy"}),
        ("image.affine_grid", "size.d", {"spatial": 2}, {2, 5}),
        ("image.affine_grid", "size.d", {"spatial": 3}, set()),
        ("nn.pixel_shuffle", "batch", {"rank": 3}, {1, 3, 7, 0}),
        ("nn.pixel_shuffle", "batch", {"rank": 4}, set()),
        ("nn.conv2d", "symbolic.out_channels", {"weight": "constant"}, {True}),
        ("nn.conv1d_transpose", "symbolic.in_channels", {"weight": "constant"}, {True}),
        ("nn.conv1d_transpose", "symbolic.out_channels", {"weight": "constant"}, {True}),
    ],
)
def test_an_operand_excludes(
    name: str, axis: str, others: dict[str, Any], excluded: set[Any]
) -> None:
    assert set(axis_of(name, axis).values) - choices_at(name, axis, **others) == excluded


BIASES = {"BHQK", "1HQK", "B1QK", "BH1K", "11QK", "1H1K", "B11K", "111K"}


@pytest.mark.parametrize(
    ("chosen", "letter"),
    [
        ({}, None),
        ({"batch": 1}, 0),
        ({"batch": 1, "symbolic.batch": True}, None),
        ({"kv_heads": 1}, 1),
        ({"kv_heads": 1, "group": 2}, None),
        ({"q_len": 1}, 2),
        ({"q_len": 1, "symbolic.q_len": True}, None),
    ],
)
def test_a_bias_has_no_1_where_the_dimension_is_1(chosen: Point, letter: int | None) -> None:
    biases = axis_of("nn.attention", "bias").choices(point_at("nn.attention", chosen))
    wanted = {bias for bias in BIASES if letter is None or bias[letter] != "1"}
    assert set(biases) == {None, *wanted}


def test_lengths_of_attention_may_be_one_symbol() -> None:
    both: Point = {"symbolic.q_len": True, "symbolic.kv_len": True}
    program, bindings = program_at("nn.attention", **both, shared_length=True)
    assert program.input("key").shape[1] == "Q"
    assert {frozenset(row) for row in bindings} == {frozenset("Q")}
    with pytest.raises(ValueError, match="shared_length"):
        point_at("nn.attention", {**both, "kv_len": 5, "shared_length": True})
    _, bindings = program_at("nn.attention", **both)
    # A single query and a single key are among them.
    assert min(row["Q"] for row in bindings) == min(row["K"] for row in bindings) == 1


def test_sequences_of_queries_and_keys_may_be_shared_at_the_defaults() -> None:
    (call,) = calls_at("nn.attention_var_len", shared_sequences=True)
    assert call.arguments[3:5] == call.arguments[5:]


@pytest.mark.parametrize(
    ("name", "value", "described"),
    [
        (
            *("nn.attention", DraftValue("x", ("b", 3, 4, 8), "float16")),
            {"dtype": "float16", "operands": "variables", "result": "bare"},
        ),
        (
            *("nn.conv2d", DraftValue("x", ("b", 6, "h", 4), "float64")),
            {
                **{"dtype": "float64", "data_layout": "NCHW", "kernel_layout": "OIHW"},
                **{"out_layout": None, "groups": 1, "in_channels_per_group": 6},
                **{"symbolic.in_channels": False, "data": "variable", "result": "bare"},
            },
        ),
        (
            *("nn.conv1d_transpose", DraftValue("x", (2, 5, "w"), "float16")),
            {
                **{"dtype": "float16", "data_layout": "NCW", "kernel_layout": "IOW"},
                **{"out_layout": None, "groups": 1, "in_channels_per_group": 5},
                **{"symbolic.in_channels": False, "data": "variable", "result": "bare"},
            },
        ),
        (
            *("image.affine_grid", DraftValue("x", (5, 3, 4), "float16")),
            {"spatial": 3, "dtype": "float16", "batch": 5, "symbolic.batch": False},
        ),
        (
            *("image.affine_grid", DraftValue("x", ("b", 2, 3), "float32")),
            {"spatial": 2, "dtype": "float32", "batch": 7, "symbolic.batch": True},
        ),
    ],
)
def test_a_value_of_a_graph_is_described(name: str, value: DraftValue, described: Point) -> None:
    assert OPERATORS[name].facts(value) == described


@pytest.mark.parametrize(
    ("name", "shape", "dtype"),
    [
        ("nn.attention", (2, 3, 4), "float32"),
        ("nn.attention", (2, 3, 4, 0), "float32"),
        ("nn.attention", (2, 3, "h", 8), "float32"),
        ("nn.attention", (2, 3, 4, 8), "int8"),
        ("nn.conv2d", (2, 3, 4), "float32"),
        ("nn.conv2d", (2, "c", 4, 5), "float32"),
        ("nn.conv2d", (2, 0, 4, 5), "float32"),
        ("nn.conv2d", (2, 3, 4, 5), "int8"),
        ("nn.conv1d_transpose", (2, 3, 4, 5), "float32"),
        ("nn.conv1d_transpose", (2, "c", 4), "float32"),
        ("nn.conv1d_transpose", (2, 0, 4), "float32"),
        ("nn.conv1d_transpose", (2, 3, 4), "int8"),
        ("image.affine_grid", (2, 3), "float32"),
        ("image.affine_grid", (2, 2, 4), "float32"),
        ("image.affine_grid", (2, 2, 3), "int8"),
        ("nn.pixel_shuffle", ("c", 4, 5), "float32"),
        ("add", (2, 3), "bool"),
    ],
)
def test_a_value_of_a_graph_is_refused(name: str, shape: tuple[Any, ...], dtype: str) -> None:
    with pytest.raises(Unfit):
        OPERATORS[name].facts(DraftValue("x", shape, dtype))


def test_functions_of_closures_over_booleans_are_of_booleans() -> None:
    program, _ = program_at("invoke_pure_closure", dtype="bool", captured=2)
    (function,) = program.functions.values()
    assert [node.operator for node in function.nodes] == ["bitwise_xor", "bitwise_or"]
    program, _ = program_at("invoke_pure_closure", captured=2)
    (function,) = program.functions.values()
    assert [node.operator for node in function.nodes] == ["subtract", "maximum"]


def test_faults_of_calls_in_place_name_the_indices() -> None:
    for name in ("call_tir_inplace", "call_inplace_packed"):
        for fault in OPERATORS[name].faults:
            assert fault.names == ("inplace_indices", "in-place", "index")
            assert fault.pinned["function"] in ("difference", "opposites")


def _fill(name: str, number: int, **chosen: Any) -> object:
    return program_at(name, **chosen)[0].inputs[number].fill


@pytest.mark.parametrize(
    ("name", "number", "chosen", "fill"),
    [
        ("vision.get_valid_counts", 0, {}, Detections(0, 1, 2, -1)),
        ("vision.non_max_suppression", 0, {"operands": "counted"}, Detections(0, 1, 2, -1)),
        ("vision.non_max_suppression", 0, {}, Detections(0, 1, 2, 0)),
        ("add", 1, {"other": "scalar"}, Literal((0.5,))),
        ("add", 1, {"other": "scalar", "dtype": "int32"}, Literal((2,))),
        # Whole exponents have bases of either sign.
        ("power", 0, {"exponent": "2"}, Random()),
        ("power", 0, {"exponent": "3"}, Random()),
        ("power", 0, {"exponent": "alike"}, Positive(0.5)),
        ("quantize", 1, {"parameters": "each"}, Positive(0.125)),
        ("quantize", 2, {"parameters": "each"}, Below(5)),
        # There is no negative boolean.
        ("nonzero", 0, {"values": "few", "dtype": "bool"}, Below(2)),
        ("nonzero", 0, {"values": "few", "dtype": "int8"}, Within(2)),
        ("nn.nll_loss", 2, {"weights": True}, Positive(0.5)),
    ],
)
def test_an_operand_is_filled(name: str, number: int, chosen: dict[str, Any], fill: object) -> None:
    assert _fill(name, number, **chosen) == fill


@pytest.mark.parametrize(
    ("name", "chosen", "attributes"),
    [
        ("vision.non_max_suppression", {"result": "rows on top"}, {"invalid_to_bottom": True}),
        ("vision.non_max_suppression", {"result": "indices"}, {"invalid_to_bottom": False}),
        ("strided_slice", {"end": "but the last"}, {"end": (-1,)}),
        ("strided_slice", {"strides": "left out", "stride": 1}, {"strides": None}),
        ("strided_slice", {"strides": "given", "stride": 1}, {"strides": (1,)}),
        ("image.resize2d", {"mode": "linear half_pixel"}, {
            "method": "linear", "coordinate_transformation_mode": "half_pixel",
        }),
        ("nn.avg_pool2d", {"count_include_pad": True}, {"count_include_pad": True}),
        ("nn.conv2d", {"dtype": "float16->float32"}, {"out_dtype": "float32"}),
        ("nn.conv1d_transpose", {"dtype": "float16->float32"}, {"out_dtype": "float32"}),
        ("nn.batch_norm", {"training": None}, {"training": None}),
        ("nn.batch_norm", {"training": True}, {"training": True}),
        ("nn.batch_norm", {"training": False}, {"training": False}),
    ],
)  # fmt: skip
def test_an_attribute_is(name: str, chosen: dict[str, Any], attributes: dict[str, Any]) -> None:
    for call in calls_at(name, **chosen):
        assert {each: call.attributes.get(each) for each in attributes} == attributes


@pytest.mark.parametrize(
    ("name", "chosen", "attribute"),
    [
        ("take", {"axis": None, "rank": 1}, "axis"),
        ("grad.take_backward", {"axis": None, "rank": 1}, "axis"),
    ],
)
def test_an_attribute_is_left_out(name: str, chosen: dict[str, Any], attribute: str) -> None:
    for call in calls_at(name, **chosen):
        assert attribute not in call.attributes


def test_bytes_of_a_view_begin_at_the_row() -> None:
    (call,) = calls_at("memory.view", form="row", offset="last row")
    (source,) = program_at("memory.view", form="row", offset="last row")[0].inputs
    rows, *rest = source.shape
    assert call.attributes["relative_byte_offset"] == (int(rows) - 1) * prod(map(int, rest)) * 4


@pytest.mark.parametrize(
    ("name", "chosen", "size"),
    [
        ("nn.conv2d", {"symbolic.h": True, "pad_begin.h": 3, "pad_end.h": 3}, 0),
        ("nn.conv2d", {"symbolic.out_channels": True, "groups": 2}, 0),
        ("nn.conv2d", {"symbolic.out_channels": True, "groups": 2}, 3),
        ("nn.conv1d_transpose", {"symbolic.w": True}, 0),
        ("image.affine_grid", {"symbolic.batch": True, "size.h": "batch"}, 1),
        ("image.resize2d", {"symbolic": "last"}, 0),
        ("vision.roi_align", {"symbolic": "last"}, 0),
        # Padding alone would leave the window a place.
        (
            *("grad.max_pool2d_backward", {"symbolic": "last", "pad_begin.w": 1, "pad_end.w": 1}),
            0,
        ),
        ("median", {"symbolic": "last"}, 0),
        ("median", {"symbolic": "last", "axis": None}, 0),
        ("scatter_nd", {"symbolic": "first"}, 0),
        ("scatter_elements", {"symbolic": "last"}, 0),
        ("call_pure_packed", {"symbolic": "last", "function": "row_sum"}, 0),
        ("arange", {"symbolic": "first", "form": "uneven"}, 0),
    ],
)
def test_a_binding_is_refused(name: str, chosen: Point, size: int) -> None:
    record, point = OPERATORS[name], point_at(name, chosen)
    draft = draft_of(record, point)
    names = draft.program().symbols
    assert names
    row = dict.fromkeys(names, size)
    assert not draft.allows(row)
    assert row not in bindings_of(record, point, draft)
    assert draft.allows(dict.fromkeys(names, 12))


def test_a_range_of_nothing_is_run() -> None:
    _, bindings = program_at("arange", symbolic="first", form="count")
    assert {"m": 0} in bindings


def test_one_symbol_alone_is_nothing_where_few_other_sizes_are_allowed() -> None:
    # Two int8 make an int16, of rows behind the first: twice and three times the sizes do as well.
    view = {"rank": 4, "sizes": "even", "dtype": "int8", "to": "int16", "form": "rest"}
    _, (own, *multiples, last) = program_at("memory.view", symbolic="all", **view)
    assert [row["m"] for row in multiples] == [2 * own["m"], 3 * own["m"]]
    assert last == {**own, "b": 0}
