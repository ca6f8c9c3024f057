"""The grids cover the values and pairs that they promise."""

import pytest

from relaxcheck.generators.core.axes import Family, is_valid
from relaxcheck.generators.core.coverage.covering import complete_with, covering, uncovered
from relaxcheck.generators.families import families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from tests.conformance import grids


@pytest.mark.parametrize("name", ["attention", "conv1d_transpose", "conv2d_transpose"])
def test_cheap_rows_hold_the_same_pairs(name: str) -> None:
    axes = grids.member(name).axes
    rows = covering(axes)
    cheap = grids.mostly_cheap(rows)
    before, after = uncovered(axes, rows), uncovered(axes, cheap)
    assert (before.missing == after.missing).all()
    level = grids.OPT_LEVEL
    expensive = [sum(row[level.name] != level.default for row in each) for each in (rows, cheap)]
    assert 0 < expensive[1] <= expensive[0]


def test_a_larger_grid_holds_the_smaller_and_each_every_family() -> None:
    small, default, full = (set(grids.names(size)) for size in ("small", "default", "full"))
    assert small < default < full
    every = {family.name for family in families(tuple(PIPELINES))}
    assert {name.partition("-")[0] for name in small} == every


@pytest.mark.parametrize("family", families(tuple(PIPELINES)), ids=lambda family: family.name)
def test_every_cell_that_a_valid_point_has_is_in_the_small_grid(family: Family) -> None:
    rows = grids.points(f"{family.name}-cells")
    assert all(is_valid(family.axes, row) for row in rows)
    for axis in family.axes:
        if axis.name != grids.OPT_LEVEL.name:
            there = {repr(axis.cell(row[axis.name])) for row in rows}
            missing = [value for value in axis.values if repr(axis.cell(value)) not in there]
            assert all(complete_with(family.axes, {axis.name: value}) is None for value in missing)
    first, second = (grids.part(f"{family.name}-cells", chunk) for chunk in range(2))
    assert first
    assert second
    assert first + second == rows


def test_the_parts_of_a_large_grid_are_the_whole() -> None:
    name = "conv1d_transpose-cheap_pairs"
    parts = [grids.part(name, chunk) for chunk in range(grids.chunks(name))]
    rows = grids.points(name)
    assert len(parts) == grids.SIZES[name]
    assert sorted(map(repr, rows)) == sorted(repr(row) for part in parts for row in part)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("name", ["einsum", "conv3d_transpose", "concat"])
def test_every_value_that_a_valid_point_has_is_in_the_default_grid(name: str) -> None:
    axes, rows = grids.member(name).axes, grids.points(f"{name}-values")
    assert len(rows) >= len(grids.points(f"{name}-cells"))
    for axis in axes:
        if axis.name != grids.OPT_LEVEL.name:
            missing = set(axis.values) - {row[axis.name] for row in rows}
            assert all(complete_with(axes, {axis.name: value}) is None for value in missing)
