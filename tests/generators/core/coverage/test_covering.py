"""Covering arrays and grids: what they hold is checked against points drawn at random."""

from itertools import combinations, product

import numpy as np
import pytest

from relaxcheck.generators.core.axes import Axis, Family, Point, complete, is_valid
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.coverage.covering import complete_with, covering, uncovered
from relaxcheck.generators.core.points import Given, narrowed, to_blame
from relaxcheck.generators.families import family as by_name
from tests.generators.drawn import PIPELINES, WIDE, at_random

SMALL = (
    Axis("a", (1, 2, 3, 4), 1),
    Axis("b", (1, 2, 3), 1, Given(("a",), lambda a, b: b <= a)),
    Axis("c", (False, True), False),
    Axis("d", (1, 2, 3, 4), 1, Given(("a", "c"), lambda a, c, d: d == 1 or (c and a + d > 4))),
)


def _valid() -> list[Point]:
    names = [axis.name for axis in SMALL]
    everything = (
        dict(zip(names, values, strict=True)) for values in product(*(a.values for a in SMALL))
    )
    return [point for point in everything if is_valid(SMALL, point)]


def test_every_pair_of_a_valid_point_is_covered_and_no_other() -> None:
    rows = covering(SMALL)
    assert all(row in _valid() for row in rows)
    for name, other in combinations([axis.name for axis in SMALL], 2):
        wanted = {(point[name], point[other]) for point in _valid()}
        assert {(row[name], row[other]) for row in rows} == wanted
    assert len(rows) < len(_valid())


def test_the_same_axes_give_the_same_rows() -> None:
    axes = by_name("attention_var_len", PIPELINES).axes
    assert covering(axes) == covering(axes)


def test_uncovered_counts_what_is_missing() -> None:
    rows = list(covering(SMALL))
    names = [axis.name for axis in SMALL]
    seen = {
        (name, row[name], other, row[other])
        for row in rows
        for name, other in combinations(names, 2)
    }
    sizes = [len(axis.values) for axis in SMALL]
    everything = sum(size * other for size, other in combinations(sizes, 2))
    assert uncovered(SMALL, []).count == everything
    assert uncovered(SMALL, rows).count == everything - len(seen)


@pytest.mark.parametrize(
    "family",
    [
        # As much as all others together, whose layouts the array of conv2d_transpose has too.
        pytest.param(
            family,
            id=family.name,
            marks=pytest.mark.slow if family.name == "conv3d_transpose" else (),
        )
        for family in WIDE
    ],
)
def test_an_array_over_the_axes_of_each_wide_family(family: Family) -> None:
    axes = family.axes
    if family.name == "conv3d_transpose":
        # All of its layouts take a product of 16,500 rows; two hundred stand for them here.
        kept = {axis.name: axis.values[::6] for axis in axes if "layout" in axis.name}
        axes = narrowed(axes, kept)
    rows = covering(axes)
    assert all(is_valid(axes, row) for row in rows)
    missing = uncovered(axes, rows)
    sizes = sorted(len(axis.values) for axis in axes)
    assert sizes[-1] * sizes[-2] <= len(rows) < 1.7 * max(sizes[-1] * sizes[-2], 75)
    seen = uncovered(axes, at_random(axes, 5_000))
    uncovered_pairs = [
        (missing.cells[cell], missing.cells[other])
        for cell, other in np.argwhere(missing.missing & ~seen.missing).tolist()
    ]
    assert not uncovered_pairs
    assert missing.count <= 0.01 * uncovered(axes, []).count


def test_completing_goes_back_to_the_axis_that_is_to_blame() -> None:
    assert complete_with(SMALL, {"d": 3}) == {"a": 2, "b": 1, "c": True, "d": 3}
    assert complete_with(SMALL, {"b": 3, "d": 2}) == {"a": 3, "b": 3, "c": True, "d": 2}
    assert complete_with(SMALL, {"a": 1, "b": 2}) is None
    assert complete_with(SMALL, {"c": False, "d": 2}) is None


def test_narrowing_keeps_only_the_listed_values() -> None:
    axes = narrowed(SMALL, {"a": (4, 2)})
    assert axes[0].values == (4, 2)
    assert axes[0].default == 4
    assert axes[1:] == SMALL[1:]
    (axis,) = narrowed([Axis("a", (1, 2, 3), 1, familiar=(3, 1))], {"a": (2, 1)})
    assert axis.familiar == (1,)
    with pytest.raises(ValueError, match="not all values"):
        narrowed(SMALL, {"a": (5,)})
    with pytest.raises(KeyError, match="no axis z"):
        narrowed(SMALL, {"z": (5,)})


def test_a_search_goes_back_to_the_axes_that_a_fit_reads() -> None:
    """Else it tries all values of the axes in between: one window in space takes minutes."""
    family = by_name("max_pool3d", ("build",))
    (end,) = (axis for axis in family.axes if axis.name == "pad_end.w")
    earlier = [axis.name for axis in family.axes][: family.axes.index(end)]
    point = complete(family.axes, {})
    reads = {"rank", "sizes", "kernel.w", "dilation.w", "pad_begin.w"}
    assert set(to_blame(end, earlier, point, 1)) == reads
    assert len(reads) < len(earlier)


def test_a_search_goes_back_to_the_axes_that_a_predicate_asks_for() -> None:
    """Else it tries all values of the axes in between: of ten with four values, a million."""
    calls = 0

    def same(point: Point, value: Value) -> bool:
        nonlocal calls
        calls += 1
        return point.get("first") == value

    between = tuple(Axis(f"between {number}", (0, 1, 2, 3), 0) for number in range(10))
    axes = (Axis("first", (0, 1), 0), *between, Axis("last", (0, 1), 0, same))
    point = complete_with(axes, {"last": 1})
    assert point is not None
    assert (point["first"], point["last"]) == (1, 1)
    assert calls <= 4
    assert to_blame(axes[-1], [axis.name for axis in axes[:-1]], point, 0) == ("first",)


def test_a_predicate_that_looks_at_the_whole_point_may_blame_every_axis() -> None:
    for odd in (
        lambda point, value: sum(point.values()) == value,
        lambda point, value: len(point) == value,
    ):
        end = Axis("c", (0, 1), 0, odd)
        assert to_blame(end, ["a", "b"], {"a": 1, "b": 1}, 0) == ("a", "b")
