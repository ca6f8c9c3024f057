"""Families: points and cases go both ways, every value is reachable, no draw is thrown away."""

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.axes import (
    PIPELINE,
    Axis,
    Family,
    cases,
    complete,
    is_valid,
    non_default,
    point_of,
    simpler,
)
from relaxcheck.generators.core.case import Valid, encode
from relaxcheck.generators.core.coverage.covering import complete_with
from relaxcheck.generators.core.program import decode
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.families import UnknownFamily, families
from relaxcheck.generators.families import family as by_name
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.passes.layouts import desired_layouts
from tests.generators.drawn import FAMILIES, PIPELINES, at_random, many


def test_a_case_may_name_a_pipeline_that_its_family_does_not_draw() -> None:
    family = by_name("relu", PIPELINES)
    case = family.build(complete(family.axes, {}), 0)
    mixed = msgspec.structs.replace(case, pipeline="mixed-precision")
    (axis,) = (axis for axis in family.axes if axis.name == PIPELINE)
    assert not axis.has("mixed-precision")
    point = point_of(family, mixed)
    assert point[PIPELINE] == "mixed-precision"
    assert next(simpler(family.axes, point, axis))[PIPELINE] == axis.default


def test_a_case_with_an_unknown_axis_is_no_point() -> None:
    family = by_name("relu", PIPELINES)
    case = family.build(complete(family.axes, {}), 0)
    stranger = msgspec.structs.replace(case, at={**case.at, "color": "red"})
    with pytest.raises(ValueError, match="not a point of relu: it has no axis 'color'"):
        point_of(family, stranger)


@many
def test_a_point_gives_a_case_that_gives_the_point(family: Family, count: int) -> None:
    for seed, point in enumerate(at_random(family.axes, count)):
        case = family.build(point, seed)
        assert case.family == family.name
        assert case.seed == seed
        assert case.expect == Valid()
        assert point_of(family, case) == point
        assert point_of(family, msgspec.structs.replace(case, fixes=True)) == point
        assert list(point_of(family, case)) == [axis.name for axis in family.axes]
        assert decode(encode(case)) == case
        assert encode(decode(encode(case))) == encode(case)


@many
def test_two_points_are_two_cases(family: Family, count: int) -> None:
    seen: dict[str, Any] = {}
    for point in at_random(family.axes, count):
        assert seen.setdefault(family.build(point, 0).identifier, point) == point


def test_a_case_of_another_family_or_of_no_point_is_a_value_error(family: Family) -> None:
    case = family.build(complete(family.axes, {}), 0)
    elsewhere = FAMILIES[FAMILIES.index(family) - 1]
    with pytest.raises(ValueError, match="not a point"):
        point_of(elsewhere, case)
    with pytest.raises(ValueError, match="not a point"):
        point_of(family, msgspec.structs.replace(case, at=msgspec.UNSET))
    (axis, *_) = family.axes
    with pytest.raises(ValueError, match=f"not a point of {family.name}: {axis.name} is 'nowhere'"):
        point_of(family, msgspec.structs.replace(case, at={**case.at, axis.name: "nowhere"}))


def test_how_a_case_is_run_is_read_from_its_fields(family: Family) -> None:
    case = family.build(complete(family.axes, {}), 0)
    other = msgspec.structs.replace(case, exec_mode="compiled", regime="exact")
    assert point_of(family, other) == {
        **point_of(family, case),
        "exec_mode": "compiled",
        "regime": "exact",
    }


def test_every_value_of_every_axis_is_reachable(family: Family) -> None:
    for axis in family.axes:
        for value in axis.values:
            point = complete_with(family.axes, {axis.name: value})
            assert point is not None, (axis.name, value)
            assert is_valid(family.axes, point)
            assert point[axis.name] == value


def test_the_values_of_a_cell_are_allowed_alike(family: Family) -> None:
    for seed, point in enumerate(at_random(family.axes, 60)):
        for axis in family.axes:
            alike = [
                value for value in axis.values if axis.cell(value) == axis.cell(point[axis.name])
            ]
            other = alike[seed % len(alike)]
            assert is_valid(family.axes, {**point, axis.name: other}), (axis.name, other)


def test_the_defaults_are_a_point(family: Family) -> None:
    point = complete(family.axes, {})
    assert non_default(family.axes, point) == ()
    assert point == {axis.name: axis.default for axis in family.axes}


@many
def test_simpler_points_are_valid(family: Family, count: int) -> None:
    for point in at_random(family.axes, count // 10):
        for axis in family.axes:
            for other in simpler(family.axes, point, axis):
                assert is_valid(family.axes, other)
                assert other[axis.name] != point[axis.name]
                family.build(other, 0)


@many
@pytest.mark.parametrize("each", FAMILIES, ids=lambda each: each.name)
def test_nothing_drawn_is_thrown_away(each: Family, count: int) -> None:
    begun: list[None] = []
    kept: list[None] = []

    @settings(max_examples=count // 5, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def draw(data: st.DataObject) -> None:
        begun.append(None)
        case = data.draw(cases(each))
        assert each.build(point_of(each, case), case.seed) == case
        kept.append(None)

    draw()
    assert len(begun) - len(kept) <= 1 + len(begun) // 30


@many
def test_inputs_are_small_and_symbols_are_defined(family: Family, count: int) -> None:
    for point in at_random(family.axes, count):
        case = family.build(point, 0)
        bare = {
            dim
            for each in case.program.inputs
            if not each.constant
            for dim in each.shape
            if isinstance(dim, str)
        }
        assert set(case.program.symbols) <= bare
        assert len(case.bindings) == len({tuple(each.items()) for each in case.bindings})
        assert len(case.bindings) <= 5
        for at, binding in enumerate(case.bindings):
            made = arrays(case, at)
            assert sum(array.size for array in made.values()) < 200_000
            for each in case.program.inputs:
                assert made[each.name].shape == tuple(
                    dims.evaluate(dim, binding) for dim in each.shape
                )


def test_symbols_get_several_values(family: Family) -> None:
    toggles = [axis.name for axis in family.axes if axis.name.startswith("symbolic.")]
    for name in toggles:
        point = complete_with(family.axes, {name: True})
        assert point is not None
        case = family.build(point, 0)
        [symbol] = case.program.symbols
        assert len({binding[symbol] for binding in case.bindings}) >= 2
        if name == "symbolic.batch":
            assert {binding["B"] for binding in case.bindings} == {0, 1, 2, 3, 7}


@pytest.mark.parametrize("name", ["attention"])
def test_lengths_below_equal_and_above_are_reachable_with_every_mask(name: str) -> None:
    family = by_name(name, PIPELINES)
    for mask in (None, "TopLeft", "BottomRight"):
        for window in (None, 1, 2):
            for lengths in ((2, 5), (4, 4), (5, 2)):
                chosen = dict(
                    zip(
                        ("causal_mask", "window_size", "q_len", "kv_len"),
                        (mask, window, *lengths),
                        strict=True,
                    )
                )
                assert complete_with(family.axes, chosen) is not None


def test_symbolic_lengths_pass_below_equal_and_above() -> None:
    family = by_name("attention", PIPELINES)
    point = complete_with(family.axes, {"symbolic.q_len": True, "symbolic.kv_len": True})
    assert point is not None
    signs = {np.sign(each["Q"] - each["K"]) for each in family.build(point, 0).bindings}
    assert signs == {-1, 0, 1}


def test_a_family_is_found_by_name() -> None:
    for each in FAMILIES:
        assert by_name(each.name, PIPELINES).name == each.name
    assert len({each.name for each in FAMILIES}) == len(FAMILIES) == len(OPERATORS)
    with pytest.raises(UnknownFamily) as raised:
        by_name("conv4d", PIPELINES)
    assert str(raised.value) == (
        "no family 'conv4d'; did you mean conv3d, conv2d or conv1d? relaxcheck families lists all"
    )
    with pytest.raises(UnknownFamily, match=r"^no family 'zzz'; relaxcheck families lists all$"):
        by_name("zzz", PIPELINES)


def test_the_first_pipeline_is_the_default() -> None:
    [axis] = [axis for axis in families(("b", "a"))[0].axes if axis.name == "pipeline"]
    assert (axis.values, axis.default) == (("b", "a"), "b")


def test_layouts_wanted_of_convert_layout() -> None:
    wanted = {
        each.name: desired_layouts(each.build(complete(each.axes, {}), 0).program)
        for each in FAMILIES
    }
    assert {name: layouts for name, layouts in wanted.items() if layouts} == {
        "conv2d": {"relax.nn.conv2d": ["NHWC", "HWIO"]},
        "conv1d_transpose": {"relax.nn.conv1d_transpose": ["NWC", "WIO"]},
        "conv2d_transpose": {"relax.nn.conv2d_transpose": ["NHWC", "HWIO"]},
        "conv3d_transpose": {"relax.nn.conv3d_transpose": ["NDHWC", "DHWIO"]},
    }


def test_reduction_prefers_layouts_that_people_use() -> None:
    for name, axis_name, use in (
        ("conv2d", "data_layout", "NHWC"),
        ("conv2d", "kernel_layout", "HWIO"),
        ("conv2d_transpose", "out_layout", "NHWC"),
        ("conv3d_transpose", "data_layout", "NDHWC"),
    ):
        family = by_name(name, PIPELINES)
        axis = next(each for each in family.axes if each.name == axis_name)
        strange = next(value for value in axis.values if value not in axis.familiar and value)
        point = complete(family.axes, {axis_name: strange})
        steps = [step[axis_name] for step in simpler(family.axes, point, axis)]
        assert steps[0] == axis.default
        assert use in steps
        # None is taken for another that nobody uses.
        point = complete(family.axes, {axis_name: use})
        assert {step[axis_name] for step in simpler(family.axes, point, axis)} <= {
            axis.default,
            *axis.familiar,
        }


def test_an_axis_is_familiar_with_its_own_values_alone() -> None:
    with pytest.raises(ValueError, match="axis layout: 'NHWC' is not a value"):
        Axis("layout", ("NCHW",), "NCHW", familiar=("NHWC",))
