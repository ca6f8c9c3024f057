"""Faults: each kind breaks its rule, as told by rules written here from the definitions."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import point_of, points
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.dims import evaluate
from relaxcheck.generators.core.faults import Breakable, Fault, broken, pin
from relaxcheck.generators.core.layouts import packing, parts
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.families import families
from tests.generators.core.rules import REQUIRED as LISTED
from tests.generators.core.rules import RULES
from tests.generators.drawn import PIPELINES, at_random

FAMILIES: list[Any] = [family for family in families(PIPELINES) if family.record.own is not None]
"""Those with axes of their own for the operand; their rules are written here."""

KINDS = [(family, fault) for family in FAMILIES for fault in family.faults]


def _violations(case: Case) -> set[str]:
    """The names of the faults of ``case``, at its first binding."""
    ruled = [node for node in case.program.nodes if node.operator in RULES]
    if ruled:
        return set().union(*(RULES[node.operator](node, case) for node in ruled))
    [node] = [node for node in case.program.nodes if "." in node.operator and
              node.operator != "nn.relu"]  # fmt: skip
    shapes = {each.name: case.shape(each.name, case.bindings[0]) for each in case.program.inputs}
    dtypes = {each.name: each.dtype for each in case.program.inputs}
    if node.operator == "nn.pixel_shuffle":
        return _pixel_shuffle(node.attributes["upscale_factor"], shapes["data"])
    if node.operator == "image.affine_grid":
        return _affine_grid(case, dict(node.attributes), shapes["data"])
    if "conv" in node.operator:
        return _convolution(case, dict(node.attributes), shapes, dtypes)
    return _attention(dict(node.attributes), shapes, dtypes)


def _pixel_shuffle(factor: Any, shape: tuple[int, ...]) -> set[str]:
    if factor < 1:
        return {"upscale_factor"}
    if len(shape) < 3:
        return {"rank"}
    return {"channel"} if shape[-3] % factor**2 else set()


def _affine_grid(case: Case, a: dict[str, Any], shape: tuple[int, ...]) -> set[str]:
    size = [evaluate(dim, case.bindings[0]) for dim in getattr(a["size"], "dims", a["size"])]
    if len(size) not in (2, 3):
        return {"size"}
    if len(shape) != 3:
        return {"rank"}
    faults = {"size"} if min(size) < 1 + a.get("align_corners", True) else set()
    return faults | ({"shape"} if shape[1:] != (len(size), len(size) + 1) else set())


def _convolution(case: Case, a: dict[str, Any], shapes: Any, dtypes: Any) -> set[str]:
    spatial = {"conv1d": "W", "conv2d": "HW", "conv3d": "DHW"}[case.family.partition("_")[0]]
    rank, transposed = len(spatial), "transpose" in case.family
    a = {"output_padding": (0,) * rank, **a}
    faults = set()
    for name, size in (("strides", rank), ("dilation", rank), ("output_padding", rank)):
        faults |= {name} if len(a[name]) != size else set()
    faults |= {"padding"} if len(a["padding"]) not in (1, rank, 2 * rank) else set()
    faults |= {"strides"} if min(a["strides"]) < 1 else set()
    faults |= {"dilation"} if min(a["dilation"]) < 1 else set()
    if min(a["output_padding"]) < 0 or any(
        extra >= max(pair)
        for extra, *pair in zip(a["output_padding"], a["strides"], a["dilation"], strict=False)
    ):
        faults.add("output_padding")
    out_layout = a.get("out_layout", a["data_layout"])
    for name, layout, letters in (
        ("data_layout", a["data_layout"], "NC" + spatial),
        ("kernel_layout", a["kernel_layout"], "IO" + spatial),
        ("out_layout", out_layout, "NC" + spatial),
    ):
        primal = sorted(letter for letter, factor in parts(layout) if not factor)
        faults |= {name} if primal != sorted(letters) else set()
    faults |= {"dtype"} if len(set(dtypes.values())) > 1 else set()
    data_shape = shapes.get("data") or shapes["x"]
    if any(node.operator == "permute_dims" for node in case.program.nodes):
        data_shape = data_shape[::-1]
    for layout, shape in ((a["data_layout"], data_shape), (a["kernel_layout"], shapes["weight"])):
        faults |= {"rank"} if len(parts(layout)) != len(shape) else set()
    if faults:
        return faults
    data = _logical(a["data_layout"], data_shape)
    weight = _logical(a["kernel_layout"], shapes["weight"])
    whole, wide = (
        (weight["I"], weight["O"] * a["groups"]) if transposed else (data["C"], weight["O"])
    )
    of_group = weight["I"] if transposed else weight["I"] * a["groups"]
    faults |= {"channels"} if data["C"] != of_group else set()
    faults |= {"groups"} if a["groups"] < 1 or whole % a["groups"] or wide % a["groups"] else set()
    faults |= {"out_layout"} if wide % packing(out_layout, "C") else set()
    begin = a["padding"][:rank] if len(a["padding"]) >= rank else a["padding"] * rank
    end = a["padding"][rank:] or begin
    for at, letter in enumerate(spatial):
        span = a["dilation"][at] * (weight[letter] - 1) + 1
        size = data[letter] + begin[at] + end[at] - span + 1
        if transposed:
            size = (data[letter] - 1) * a["strides"][at] - begin[at] - end[at]
            size += span + a["output_padding"][at]
        faults |= {"padding"} if size < 1 else set()
    return faults


def _logical(layout: str, shape: tuple[int, ...]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for (letter, _), size in zip(parts(layout), shape, strict=True):
        sizes[letter] = sizes.get(letter, 1) * size
    return sizes


def _attention(a: dict[str, Any], shapes: Any, dtypes: Any) -> set[str]:
    faults = set()
    query = shapes.get("query") or shapes["x"]
    key, value, bias = shapes["key"], shapes["value"], shapes.get("bias")
    operands = [dtypes.get("query") or dtypes["x"], dtypes["key"], dtypes["value"]]
    if len(set(operands)) > 1 or not {"float", "bfloat"} & {operands[0].rstrip("0123456789")}:
        faults.add("dtype")
    faults |= (
        {"causal_mask"} if a.get("causal_mask") not in (None, "TopLeft", "BottomRight") else set()
    )
    if any(len(shape) != 4 for shape in (query, key, value, bias or query)):
        return faults | {"rank"}
    faults |= {"batch"} if not query[0] == key[0] == value[0] else set()
    faults |= {"heads"} if query[2] % key[2] or key[2] != value[2] else set()
    faults |= {"length"} if key[1] != value[1] else set()
    faults |= {"dim"} if query[3] != key[3] else set()
    if bias:
        full = (query[0], query[2], query[1], key[1])
        for at, name in enumerate(("batch", "heads", "length", "length")):
            allowed = {full[at]} if at == 3 else {1, full[at]}
            faults |= {name} if bias[at] not in allowed else set()
    if "seqstart_q" in shapes:
        starts = {name: shape for name, shape in shapes.items() if name.startswith("seqstart")}
        faults |= {"seqstart"} if len(set(starts.values())) > 1 else set()
        faults |= {"seqstart"} if any(dtypes[name] != "int32" for name in starts) else set()
        faults |= {"batch"} if query[0] != 1 else set()
    return faults


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_valid_cases_break_no_rule(family: Breakable) -> None:
    for point in at_random(family.axes, 300):
        assert _violations(family.build(point, 0)) == set(), point


@pytest.mark.parametrize(
    ("family", "fault"), KINDS, ids=[f"{family.name}-{fault.kind}" for family, fault in KINDS]
)
def test_a_fault_breaks_a_rule_that_it_names(family: Breakable, fault: Fault) -> None:
    for seed, point in enumerate(at_random(pin(family.axes, fault.pinned), 25)):
        case = broken(family, fault, point, seed)
        assert case.expect == Invalid(family.operator, fault.names)
        violated = _violations(case)
        assert any(
            rule in name or name in rule or name.startswith(rule[:5])
            for rule in violated
            for name in fault.names
        ), (violated, fault.names)
        with pytest.raises(ValueError, match="not a point"):
            point_of(family, case)
        for at in range(len(case.bindings)):
            arrays(case, at)


REQUIRED = {
    "conv": {
        *("output-negative", "output-padding-too-large", "groups-do-not-divide"),
        *("strides-zero", "strides-negative", "dilation-zero", "dilation-negative"),
        *("data_layout-unknown-letter", "data_layout-repeated-letter", "data-rank", "weight-rank"),
        *("kernel_layout-unknown-letter", "out_layout-repeated-letter", "dtypes-differ"),
        *("channels-differ", "packing-does-not-divide"),
    },
    "conv2d": {
        *("output-zero", "groups-do-not-divide", "strides-zero", "data_layout-repeated-letter"),
        *("channels-differ", "packing-does-not-divide", "dtypes-differ"),
    },
    "affine_grid": {"matrix-rows", "matrix-columns", "data-rank", "size-length"},
    "pixel_shuffle": {"factor-zero", "factor-negative", "channels-do-not-divide", "data-rank"},
    "attention": {
        *("key-batch-differs", "heads-do-not-divide", "lengths-differ", "head-dims-differ"),
        *("query-rank", "key-rank", "value-rank", "bias-keys-differ"),
    },
    "attention_var_len": {
        *("heads-do-not-divide", "lengths-differ", "offsets-differ"),
    },
    **LISTED,
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_table_is_complete_and_its_kinds_are_distinct(family: Breakable) -> None:
    kinds = [fault.kind for fault in family.faults]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) >= REQUIRED["conv" if "transpose" in family.name else family.name]
    assert all(fault.names for fault in family.faults)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_each_strategy_draws_its_fault(family: Breakable) -> None:
    assert len(family.invalid) == len(family.faults)
    for fault, strategy in zip(family.faults, family.invalid, strict=True):
        drawn: set[tuple[str, ...]] = set()

        @settings(max_examples=10, deadline=None, database=None)
        @given(strategy, st.just(drawn))
        def break_rules(case: Case, drawn: set[tuple[str, ...]]) -> None:
            assert _violations(case)
            assert isinstance(case.expect, Invalid)
            drawn.add(case.expect.fault)

        break_rules()
        assert drawn == {fault.names}


def test_pinned_axes_keep_points_valid() -> None:
    for family, fault in KINDS:
        assert points(pin(family.axes, fault.pinned)) is not None
        for point in at_random(pin(family.axes, fault.pinned), 3):
            assert {**point, **fault.pinned} == point
