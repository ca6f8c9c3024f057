"""The grids hold what they are said to hold."""

import pytest

from generators.covering import covering, uncovered
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
