"""The grids hold what they are said to hold."""

import pytest

from generators.covering import covering, uncovered
from generators.families import families
from harness.pipelines import PIPELINES
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
    every = {one.name for one in families(tuple(PIPELINES))}
    assert {name.partition("-")[0] for name in small} == every
