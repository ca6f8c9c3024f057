"""Rows of boxes: which are valid, which stay, and in which order, worked out here."""

from math import exp
from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.drawn import Detections
from relaxcheck.generators.core.fills.kinds import Below, Fill, Literal
from relaxcheck.generators.core.program import Program
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.detection import counts, suppression
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

COUNTS, SUPPRESSES = "vision.get_valid_counts", "vision.non_max_suppression"
FLOATS = ("float16", "float32", "float64")

# Classes, scores and corners. The quotient of the first box is 1/2 less with the second (10/30 of
# the areas 20 and 20), 10/20 with the third (inside of it), and 0 with the last.
ROWS = (
    (0, 0.5, 0, 0, 4, 5),
    (0, 0.75, 2, 0, 6, 5),
    (1, 0.25, 0, 0, 2, 5),
    (0, 0.625, 9, 9, 10, 10),
)


def rows_of(rows: Any = ROWS) -> Literal:
    return Literal(tuple(float(number) for row in rows for number in row))


def valid(item: int, *, rows: Any = ROWS, dtype: str = "float32", **attributes: Any) -> Bounded:
    shape = (1, len(rows), len(rows[0]))
    return agree(program_of(COUNTS, [shape], dtype, [rows_of(rows)], item=item, **attributes))


def kept(
    item: int | None, *, rows: Any = ROWS, count: int = 4, oracles: int = 1, **attributes: Any
) -> Bounded:
    return agree(suppression_of(item, rows=rows, count=count, **attributes), oracles=oracles)


def suppression_of(item: int | None, *, rows: Any, count: int, **attributes: Any) -> Program:
    shapes: list[tuple[int, ...]] = [(1, len(rows), len(rows[0])), (1,), (1, len(rows))]
    fills = [rows_of(rows), Literal((count,)), Literal(tuple(range(10, 10 + len(rows))))]
    items = {} if item is None else {"item": item}
    kinds = ["float32", "int32", "int32"]
    return program_of(SUPPRESSES, shapes, kinds, fills, **items, **attributes)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_above_the_threshold_move_to_the_top(dtype: str) -> None:
    threshold = {"score_threshold": 0.3, "dtype": dtype}
    assert valid(0, **threshold).value.tolist() == [3]
    assert valid(2, **threshold).value.tolist() == [[0, 1, 3, -1]]
    moved = valid(1, **threshold)
    assert moved.value[0, :3].tolist() == [list(ROWS[at]) for at in (0, 1, 3)]
    assert (moved.value[0, 3] == -1).all()
    assert not moved.bound.any()


def test_a_class_below_0_is_none_unless_classes_do_not_count() -> None:
    rows = [(-1, 0.5, 1, 1), (0, 0.75, 2, 2)]
    assert valid(2, rows=rows).value.tolist() == [[1, -1]]
    assert valid(2, rows=rows, id_index=-1).value.tolist() == [[0, 1]]
    assert valid(0, rows=rows, id_index=1, score_index=3, score_threshold=1.5).value == [1]


def test_a_score_on_the_threshold_is_open() -> None:
    assert np.isinf(valid(0, score_threshold=0.25).bound).all()
    assert not valid(0, score_threshold=0.25 + 2**-20).bound.any()


def test_the_best_box_removes_those_of_its_class_that_it_overlaps() -> None:
    # In order of scores: 1, 3, 0, 2. Box 0 has a third in common with box 1.
    assert kept(0, iou_threshold=0.3).value.tolist() == [[11, 13, 12, -1]]
    assert kept(1, iou_threshold=0.3).value.tolist() == [[3]]
    assert kept(0, iou_threshold=0.4).value.tolist() == [[11, 13, 10, 12]]
    # Box 2 lies inside of box 0, of another class.
    assert kept(0, iou_threshold=0.4, force_suppress=True).value.tolist() == [[11, 13, 10, -1]]
    assert kept(0, iou_threshold=0.4, id_index=-1).value.tolist() == [[11, 13, 10, -1]]


def test_limits_of_rows() -> None:
    assert kept(0, iou_threshold=0.3, max_output_size=1).value.tolist() == [[11, -1, -1, -1]]
    assert kept(0, iou_threshold=0.4, top_k=2).value.tolist() == [[11, 13, -1, -1]]
    assert kept(0, iou_threshold=0.4, count=2).value.tolist() == [[11, 10, -1, -1]]
    assert kept(1, count=0).value.tolist() == [[0]]


def test_rows_are_returned_where_indices_are_not() -> None:
    gone = [-1.0] * 6
    between = kept(None, iou_threshold=0.3, return_indices=False)
    ranked = [list(ROWS[1]), list(ROWS[3]), gone, list(ROWS[2])]
    assert between.value[0].tolist() == ranked
    on_top = kept(None, iou_threshold=0.3, return_indices=False, invalid_to_bottom=True)
    assert on_top.value[0].tolist() == [*ranked[:2], ranked[3], gone]
    assert not on_top.bound.any()


def test_scores_fall_where_boxes_overlap_softly() -> None:
    soft = {"soft_nms_sigma": 0.5, "iou_threshold": 0.9}
    assert kept(1, **soft).value.tolist() == [[11, 13, 10, 12]]
    rows = kept(0, **soft)
    fallen = 0.5 * exp(-((1 / 3) ** 2))
    np.testing.assert_allclose(rows.value[0, :, 1], [0.75, 0.625, fallen, 0.25], rtol=1e-7)
    assert not rows.bound[0, 0].any()
    assert 0 < rows.bound[0, 1:3, 1].min() < rows.bound.max() < 1e-6
    assert kept(1, **soft, score_threshold=0.45).value.tolist() == [[11, 13, -1, -1]]
    assert kept(2, **soft, score_threshold=0.45).value.tolist() == [[2]]


def test_a_score_that_has_fallen_may_be_passed() -> None:
    rows = [(0, 0.75, 0, 0, 4, 5), (0, 0.5, 0, 0, 2, 5), (0, 0.484375, 9, 9, 10, 10)]
    soft = {"soft_nms_sigma": 0.5, "iou_threshold": 0.9}
    assert kept(1, rows=rows, count=3, **soft).value.tolist() == [[10, 12, 11]]


@pytest.mark.parametrize(
    ("rows", "attributes"),
    [
        (ROWS, {"iou_threshold": 1 / 3}),
        ([(0, 0.5, 0, 0, 4, 5), (0, 0.5, 2, 0, 6, 5)], {}),
        (
            [(0, 0.75, 0, 0, 4, 5), (0, 0.5, 0, 0, 2, 5), (0, 0.5 * exp(-0.25), 9, 9, 10, 10)],
            {"soft_nms_sigma": 0.5, "iou_threshold": 0.9},
        ),
        ([(0, 0.5, 0, 0, 4, 5), (0, 0.0, 2, 0, 6, 5)], {}),
        (
            [(0, 0.75, 0, 0, 4, 5), (0, 0.5, 2, 0, 6, 5)],
            {"soft_nms_sigma": 0.5, "score_threshold": 0.5 * exp(-1 / 9)},
        ),
    ],
)
def test_what_rounding_decides_is_open(rows: Any, attributes: dict[str, Any]) -> None:
    program = suppression_of(1, rows=rows, count=len(rows), **attributes)
    (result,) = evaluate(
        program,
        {
            "x0": np.array([rows], np.float32),
            "x1": np.array([len(rows)], np.int32),
            "x2": np.zeros((1, len(rows)), np.int32),
        },
    )
    assert np.isinf(result.bound).all()


DRAWN: list[dict[str, Any]] = [
    {"iou_threshold": threshold, "force_suppress": force, "soft_nms_sigma": sigma}
    for threshold in (0.2, 0.5, 0.8)
    for force in (False, True)
    for sigma in (0.0, 0.5)
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("attributes", DRAWN)
def test_drawn_values_decide_what_stays(attributes: dict[str, Any], dtype: str) -> None:
    fills: list[Fill] = [Detections(0, 1, 2), Below(18), Below(17)]
    shapes: list[tuple[int, ...]] = [(3, 17, 6), (3,), (3, 17)]
    kinds = [dtype, "int32", "int32"]
    for seed in range(4):
        program = program_of(SUPPRESSES, shapes, kinds, fills, item=0, **attributes)
        result = agree(program, seed=seed, oracles=1)
        if not attributes["soft_nms_sigma"]:
            assert not result.bound.any()
            wrong_is_seen(result)


@pytest.mark.parametrize("dtype", FLOATS)
def test_drawn_values_decide_what_is_valid(dtype: str) -> None:
    for item in range(3):
        program = program_of(COUNTS, [(3, 9, 6)], dtype, [Detections(0, 1, 2, -1)], item=item)
        result = agree(program)
        assert not result.bound.any()
        wrong_is_seen(result)


@pytest.mark.parametrize(
    ("shapes", "attributes", "why"),
    [
        ([(1, 4, 6), (2,), (1, 4)], {}, "a number of valid rows for each batch"),
        ([(1, 4, 6), (1,), (1, 5)], {}, "a place for each row"),
        ([(1, 4, 6), (1,), (1, 4)], {"coord_start": 3}, "no box at 3"),
        ([(1, 4, 6), (1,), (1, 4)], {"score_index": 6}, "no place 6"),
        ([(1, 4, 6), (1,), (1, 4)], {"id_index": -2}, "or -2"),
        ([(1, 4, 6), (1,), (1, 4)], {"top_k": 0}, "a limit of 0"),
    ],
)
def test_an_invalid_call_is_refused(
    shapes: list[tuple[int, ...]], attributes: dict[str, Any], why: str
) -> None:
    program = program_of(SUPPRESSES, shapes, ["float32", "int32", "int32"], **attributes)
    arrays = {
        f"x{at}": np.zeros(shape, "int32" if at else "float32") for at, shape in enumerate(shapes)
    }
    with pytest.raises(ValueError, match=why):
        evaluate(program, arrays)


def test_the_modules_hold_these_operators_alone() -> None:
    assert declared_in(counts) == {COUNTS}
    assert declared_in(suppression) == {SUPPRESSES}
