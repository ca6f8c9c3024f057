"""Steering: what it draws is valid, the same every time, and leaves no reachable pair out."""

import random
from collections import Counter
from itertools import combinations, product

import pytest

from relaxcheck.generators.core.axes import Axis, Family, Point, is_valid, non_default
from relaxcheck.generators.core.coverage.pairs import Pairs
from relaxcheck.generators.core.coverage.steering import Steering, weights
from relaxcheck.generators.core.points import Given
from tests.generators.drawn import WIDE, at_random

AXES = (
    Axis("a", (1, 2, 3, 4), 1),
    Axis("b", (1, 2, 3), 1, Given(("a",), lambda a, b: b <= a)),
    Axis("c", (False, True), False, default_weight=9),
    Axis("d", (1, 2, 3, 4), 1, Given(("a", "c"), lambda a, c, d: d == 1 or (c and a + d > 4))),
)


def _drawn(axes: tuple[Axis, ...], count: int, seed: int = 0) -> tuple[Steering, list[Point]]:
    steering, source = Steering(axes), random.Random(seed)
    return steering, [steering.point(source.getrandbits(64)) for _ in range(count)]


def _pairs(points: list[Point]) -> set[tuple[object, ...]]:
    return {
        (name, point[name], other, point[other])
        for point in points
        for name, other in combinations(point, 2)
    }


def test_every_pair_that_a_valid_point_has_is_drawn_and_the_others_are_known() -> None:
    names = [axis.name for axis in AXES]
    everything = [
        dict(zip(names, values, strict=True)) for values in product(*(a.values for a in AXES))
    ]
    valid = [point for point in everything if is_valid(AXES, point)]
    steering, points = _drawn(AXES, 40)
    assert all(point in valid for point in points)
    assert _pairs(points) == _pairs(valid)
    assert steering.pairs.count == 0
    assert len(steering.impossible) == len(_pairs(everything) - _pairs(valid))


@pytest.mark.parametrize("family", WIDE, ids=lambda family: family.name)
def test_the_first_points_cover_more_than_points_at_random(family: Family) -> None:
    steering, points = _drawn(family.axes, 300)
    assert all(is_valid(family.axes, point) for point in points)
    by_chance = Pairs(family.axes)
    by_chance.strike(at_random(family.axes, 300))
    # Pairs known to be impossible are missing in points at random as well.
    missing = by_chance.count - len(steering.impossible)
    # A small family has all its pairs by chance.
    assert steering.pairs.count < 0.4 * missing or steering.pairs.count == missing == 0


@pytest.mark.parametrize("family", WIDE, ids=lambda family: family.name)
def test_the_same_choices_give_the_same_points(family: Family) -> None:
    assert _drawn(family.axes, 30)[1] == _drawn(family.axes, 30)[1]
    assert _drawn(family.axes, 30)[1] != _drawn(family.axes, 30, seed=1)[1]


def test_when_nothing_is_missing_the_weights_decide() -> None:
    steering, points = _drawn(AXES, 2_000)
    counts = Counter(point["c"] for point in points[100:])
    assert steering.pairs.count == 0
    assert 7 < counts[False] / counts[True] < 11.5


def test_an_axis_that_is_not_steered_keeps_its_share_until_nothing_else_is_missing() -> None:
    axes = (
        Axis("a", tuple(range(20)), 0),
        Axis("b", tuple(range(12)), 0),
        Axis("level", (0, 3), 0, default_weight=9, steered=False),
    )
    # 240 points have all pairs of the other two; a tenth have the rare level.
    _, points = _drawn(axes, 800)
    slow = [at for at, point in enumerate(points) if point["level"] == 3]
    assert 12 < sum(at < 240 for at in slow) < 40
    # Then its own pairs come at once: by chance, twenty values take the rare level some 700 points.
    soon = [point for point in points[:270] if point["level"] == 3]
    assert {point["a"] for point in soon} == set(axes[0].values)
    assert {point["b"] for point in soon} == set(axes[1].values)
    assert 30 < sum(at >= 270 for at in slow) < 80


def test_a_pair_of_cells_is_drawn_once_for_all_its_values() -> None:
    axes = (
        Axis("wide", tuple(range(100)), 0, cell=lambda value: "odd" if value % 2 else "even"),  # type: ignore[operator]
        Axis("narrow", (0, 1, 2), 0),
    )
    steering, points = _drawn(axes, 6)
    assert steering.pairs.cells == [
        *(("wide", "even"), ("wide", "odd")),
        *(("narrow", 0), ("narrow", 1), ("narrow", 2)),
    ]
    assert len({(point["wide"] % 2, point["narrow"]) for point in points}) == 6  # type: ignore[operator]


def test_cells_share_the_weight_alike() -> None:
    axis = Axis("layout", ("ab", "ba", "x", "y", "z"), "ab", default_weight=4)
    assert weights(axis) == (16, 4, 4, 4, 4)
    classed = Axis(
        "layout",
        ("ab", "ba", "x", "y", "z"),
        "ab",
        default_weight=4,
        cell=lambda value: value if "a" in str(value) else "other",
    )
    default, alone, *together = weights(classed)
    assert default == alone + sum(together)
    assert alone == sum(together)
    assert len(set(together)) == 1
    assert weights(Axis("single", (None,), None)) == (1,)


def test_axes_without_a_valid_point_are_an_error() -> None:
    impossible = (Axis("a", (1,), 1, Given((), lambda value: False)),)
    with pytest.raises(ValueError, match="no valid point"):
        Steering(impossible).point(0)


@pytest.mark.parametrize("family", WIDE, ids=lambda family: family.name)
def test_some_points_are_as_small_as_they_can_be(family: Family) -> None:
    small = [axis for axis in family.axes if axis.least]
    assert small
    _, points = _drawn(family.axes, 200)
    least = [point for point in points if all(point[axis.name] in axis.least for axis in small)]
    assert 4 < len(least) < 50


@pytest.mark.parametrize("family", WIDE, ids=lambda family: family.name)
def test_some_points_have_few_axes_off_their_defaults(family: Family) -> None:
    _, points = _drawn(family.axes, 200)
    steered = [axis for axis in family.axes if axis.steered]
    plain = [point for point in points if len(non_default(steered, point)) <= 5]
    assert 8 < len(plain) < 80
