"""Fills that decide results: their sums, their order, and the overlaps of their boxes."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.fills.drawn import (
    BetweenParts,
    Boxes,
    Detections,
    Distribution,
    Ranked,
)
from relaxcheck.generators.core.fills.kinds import Fill
from relaxcheck.generators.core.program import Case, Input, Program, decode
from relaxcheck.generators.core.values import Array, arrays

NEVER = tuple(Fraction(*each) for each in ((1, 8), (1, 5), (1, 2), (4, 5), (7, 8)))
"""Quotients of areas that no two boxes have."""


def filled(
    fill: Fill,
    shape: tuple[int, ...],
    seed: int = 0,
    dtype: str = "float16",
    regime: str = "normal",
) -> Array:
    program = Program((Input("x", shape, "float16", fill=fill),), (), ("x",))
    case = Case("any", program, seed=seed, regime=regime)
    assert decode(encode(case)) == case
    return arrays(case, 0)["x"]


@pytest.mark.parametrize("size", [1, 2, 5, 300])
def test_probabilities_add_up_to_1(size: int) -> None:
    rows = filled(Distribution(), (4, size)).astype(float)
    assert (rows.sum(1) == 1).all()
    assert (rows >= 0).all()
    assert (rows * 256 % 1 == 0).all()


def test_samples_lie_between_the_parts() -> None:
    samples = filled(BetweenParts(), (500,)).astype(float)
    assert (samples * 512 % 2 == 1).all()
    assert 0 < samples.min() < 0.05
    assert 0.95 < samples.max() < 1


@pytest.mark.parametrize("size", [1, 2, 8, 9, 100])
@pytest.mark.parametrize("ends", [(0.0, 1.0), (-4.0, 4.0)])
def test_ranked_numbers_differ(size: int, ends: tuple[float, float]) -> None:
    low, high = ends
    rows = filled(Ranked(low, high), (3, size)).astype(float)
    assert all(len(set(row)) == size for row in rows.tolist())
    assert (low < rows).all()
    assert (rows < high).all()
    eighths = (rows - low) / (high - low) * 8
    assert not (eighths % 1 == 0).any()


@pytest.mark.parametrize("turned", [False, True])
def test_boxes_have_no_quotient_of_a_threshold(turned: bool) -> None:
    seen = set()
    for seed in range(20):
        for row in filled(Boxes(turned), (2, 9, 4), seed).astype(float) * 16:
            corners = np.sort(row.reshape(9, 2, 2), axis=1)
            for a, b in combinations(corners, 2):
                inner = np.minimum(a[1], b[1]) - np.maximum(a[0], b[0])
                common = np.maximum(inner, 0).prod()
                areas = (a[1] - a[0]).prod() + (b[1] - b[0]).prod()
                seen.add(Fraction(int(common), int(areas - common)))
    assert {Fraction(0), Fraction(1)} <= seen
    assert len(seen) > 50
    assert not seen & set(NEVER)


def test_the_first_corner_is_the_lower_one_unless_boxes_are_turned() -> None:
    plain, turned = (filled(Boxes(each), (50, 4)) for each in (False, True))
    assert (plain[:, :2] < plain[:, 2:]).all()
    assert (turned[:, :2] > turned[:, 2:]).any(0).all()


@pytest.mark.parametrize("regime", ["normal", "special"])
def test_rows_of_detections(regime: str) -> None:
    rows = filled(Detections(5, 4, 0, -1), (2, 40, 7), regime=regime).astype(float)
    assert set(rows[..., 5].ravel()) == {-1, 0, 1}
    assert all(len(set(scores)) == 40 for scores in rows[..., 4].tolist())
    assert (rows[..., :2] < rows[..., 2:4]).all()
    assert set(filled(Detections(0, 1, 2), (1, 40, 6))[0, :, 0]) == {0, 1}


def test_a_wrong_shape_has_numbers_too() -> None:
    assert filled(Boxes(), (5,)).shape == (5,)
    assert filled(Boxes(turned=True), (1, 3, 5)).shape == (1, 3, 5)
