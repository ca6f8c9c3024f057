"""``vision.all_class_non_max_suppression``: all agree, at boxes worked out here."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.detection import classes
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in
from tests.oracles.detections import NAME, detected

# The first two have a third of their union in common; the third is the first one, turned; the last
# lies apart.
BOXES = ((0, 0, 4, 5), (2, 0, 6, 5), (4, 5, 0, 0), (9, 9, 10, 10))
SCORES = ((0.5, 0.75, 0.625, 0.25), (0.125, 0.0625, 0.375, 0.75))
KEPT: dict[str, Any] = {"boxes": BOXES, "scores": SCORES}


def rows(limits: tuple[int, float, float], **more: Any) -> list[list[int]]:
    result = agree(detected(**KEPT, limits=limits, **more))
    assert not result.bound.any()
    listed: list[list[int]] = result.value.tolist()
    return listed


def test_boxes_that_overlap_more_than_the_threshold_go() -> None:
    first = [[0, 0, 1], [0, 0, 2], [0, 0, 3]]
    second = [[0, 1, 3], [0, 1, 2], [0, 1, 1]]
    assert rows((9, 0.5, 0.0)) == first + second
    assert rows((9, 0.25, 0.0)) == [[0, 0, 1], [0, 0, 3], [0, 1, 3], [0, 1, 2]]


def test_the_same_box_overlaps_no_more_than_1() -> None:
    assert [row[2] for row in rows((9, 1.0, 0.2))] == [1, 2, 0, 3, 3, 2]


def test_no_overlap_is_no_more_than_0() -> None:
    assert rows((9, 0.0, 0.0)) == [[0, 0, 1], [0, 0, 3], [0, 1, 3], [0, 1, 2]]


def test_limits_of_boxes_and_scores() -> None:
    assert rows((1, 0.5, 0.0)) == [[0, 0, 1], [0, 1, 3]]
    assert rows((0, 0.5, 0.0)) == []
    assert rows((9, 0.5, 0.6)) == [[0, 0, 1], [0, 0, 2], [0, 1, 3]]


def test_scores_below_0_are_scores() -> None:
    low = tuple(tuple(score - 2 for score in row) for row in SCORES)
    result = agree(detected(boxes=BOXES, scores=low, limits=(9, 0.5, -9.0)))
    assert result.value[:, 2].tolist() == [1, 2, 3, 3, 2, 1]


def test_the_number_of_rows() -> None:
    assert agree(detected(**KEPT, item=1)).value.tolist() == [6]


def test_each_batch_has_its_rows_where_the_format_is_that_of_tensorflow() -> None:
    def listed(item: int) -> Any:
        return agree(detected(**KEPT, item=item, output_format="tensorflow"), oracles=1)

    assert listed(2).value.tolist() == [6]
    assert listed(0).value[0, :6].tolist() == [[0, 1], [0, 2], [0, 3], [1, 3], [1, 2], [1, 1]]
    assert listed(1).value[0, :6].tolist() == [0.75, 0.625, 0.25, 0.75, 0.375, 0.0625]
    assert listed(1).dtype == "float32"
    for item in (0, 1):
        bound = listed(item).bound
        assert not bound[0, :6].any()
        assert np.isinf(bound[0, 6:]).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("overlap", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_drawn_values_decide_what_stays(overlap: float, dtype: str) -> None:
    for seed in range(8):
        program = detected(dtype, limits=(9, overlap, 0.25))
        result = agree(program, seed=seed, oracles=1 if dtype == "float64" else 2)
        assert not result.bound.any()
        wrong_is_seen(result)


@pytest.mark.parametrize(
    ("limits", "scores", "why"),
    [
        ((9, 1 / 3, 0.0), SCORES, "an overlap that equals"),
        ((9, 0.5, 0.25), SCORES, "a score that equals"),
        ((9, 0.5, 0.0), ((0.5,) * 4,), "two scores"),
    ],
)
def test_what_nothing_defines_is_not_answered(
    limits: tuple[int, float, float], scores: Any, why: str
) -> None:
    program = detected(boxes=BOXES, scores=scores, limits=limits)
    with pytest.raises(Unsupported, match=why):
        evaluate(program, arrays(Case("drawn", program), 0))


@pytest.mark.parametrize(
    ("shapes", "why"),
    [
        ([(1, 2, 4), (1, 1, 3), (), (), ()], "scores of 3 boxes, and 2"),
        ([(1, 2, 5), (1, 1, 2), (), (), ()], "boxes of four corners"),
        ([(1, 2, 4), (1, 2), (), (), ()], "a score for each class"),
        ([(1, 2, 4), (1, 1, 2), (2,), (), ()], "a limit is one number"),
    ],
)
def test_an_invalid_call_is_refused(shapes: list[tuple[int, ...]], why: str) -> None:
    kinds = ["float32", "float32", "int64", "float32", "float32"]
    program = program_of(NAME, shapes, kinds, item=0)
    values = {
        f"x{at}": np.zeros(shape, kind)
        for at, (shape, kind) in enumerate(zip(shapes, kinds, strict=True))
    }
    with pytest.raises(ValueError, match=why):
        evaluate(program, values)


def test_the_module_holds_this_operator_alone() -> None:
    assert declared_in(classes) == {NAME}


def test_no_box_is_no_row_of_three_integers() -> None:
    none = classes._rows([[[], []]])
    assert none.value.shape == (0, 3)
    assert none.value.dtype == np.int64
