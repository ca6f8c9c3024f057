"""``vision.multibox_transform_loc``: all agree, at anchors worked out here."""

from math import exp
from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Node, Program
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.reference.estimate import FORMATS, exact
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.detection import decoding
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

NAME = "vision.multibox_transform_loc"
FLOATS = ("float16", "bfloat16", "float32", "float64")


def called(item: int, dtype: str = "float32", **attributes: Any) -> Program:
    """A call on one anchor from (1, 2) to (3, 8), moved by (1/2, 1/3), with two classes."""
    fills = [Literal(each) for each in ((0.25, 1.0), (0.5, 0.25, 1.0, 0.0), (1.0, 2.0, 3.0, 8.0))]
    shapes: list[tuple[int, ...]] = [(1, 2, 1), (1, 4), (1, 1, 4)]
    return program_of(NAME, shapes, dtype, fills, item=item, **attributes)


def decoded(item: int, **attributes: Any) -> Bounded:
    return agree(called(item, **attributes))


def test_an_anchor_is_moved_by_its_sides_and_grows_by_exponentials() -> None:
    boxes = decoded(0)
    # The center is (2 + 0.5 * 2, 5 + 0.25 * 6); the width 2e, the height 6.
    np.testing.assert_allclose(boxes.value[0, 0], [3.5, 3 - exp(1), 9.5, 3 + exp(1)], rtol=1e-12)
    assert boxes.bound.max() < 1e-5


def test_each_variance_multiplies_its_own() -> None:
    boxes = decoded(0, variances=(1, 2, 3, 4))
    wanted = [5 + 3 - 3, 3 - exp(3), 5 + 3 + 3, 3 + exp(3)]
    np.testing.assert_allclose(boxes.value[0, 0], wanted, rtol=1e-12)


def test_boxes_are_clipped() -> None:
    assert decoded(0, clip=True).value[0, 0].tolist() == [1, pytest.approx(3 - exp(1)), 1, 1]


def test_scores() -> None:
    share = 1 / (1 + exp(0.75))
    np.testing.assert_allclose(decoded(1).value[0, :, 0], [share, 1 - share], rtol=1e-12)
    assert decoded(1, threshold=0.5).value[0, 0, 0] == 0
    assert decoded(1, keep_background=False).value[0, 0, 0] == 0
    plain = {"apply_softmax": False}
    assert decoded(1, **plain).value[0, :, 0].tolist() == [0.25, 1.0]
    assert decoded(1, **plain, threshold=0.5).value[0, :, 0].tolist() == [0.0, 1.0]


def test_a_score_on_the_threshold_is_open() -> None:
    bound = decoded(1, apply_softmax=False, threshold=0.25).bound
    assert np.isinf(bound).ravel().tolist() == [True, False]


def test_scores_below_0_are_below_the_threshold() -> None:
    fills = [Literal((-1.0, 2.0))]
    shapes: list[tuple[int, ...]] = [(1, 2, 1), (1, 4), (1, 1, 4)]
    program = program_of(NAME, shapes, "float32", fills, item=1, apply_softmax=False)
    assert agree(program).value[0, :, 0].tolist() == [0.0, 2.0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("item", [0, 1])
@pytest.mark.parametrize("regime", ["normal", "exact", "moderate", "special"])
def test_all_agree(item: int, dtype: str, regime: str) -> None:
    shapes: list[tuple[int, ...]] = [(2, 3, 5), (2, 20), (1, 5, 4)]
    for more in ({}, {"clip": True, "keep_background": False, "threshold": 0.3}):
        result = agree(program_of(NAME, shapes, dtype, item=item, **more), regime)
        if regime == "normal" and not more and dtype in ("float32", "float64"):
            wrong_is_seen(result)


@pytest.mark.parametrize(
    ("shapes", "attributes", "why"),
    [
        ([(1, 2, 3), (1, 13), (1, 3, 4)], {}, "do not fit"),
        ([(1, 2, 3), (2, 12), (1, 3, 4)], {}, "do not fit"),
        ([(1, 2, 3), (1, 12), (2, 3, 4)], {}, "do not fit"),
        ([(1, 2, 3), (1, 12), (3, 4)], {}, "anchors of rank 3"),
        ([(1, 2, 3), (1, 12), (1, 3, 4)], {"variances": (1, 1)}, "no four numbers"),
    ],
)
def test_an_invalid_call_is_refused(
    shapes: list[tuple[int, ...]], attributes: dict[str, Any], why: str
) -> None:
    program = program_of(NAME, shapes, item=0, **attributes)
    with pytest.raises(ValueError, match=why):
        evaluate(program, {f"x{at}": np.zeros(each, "float32") for at, each in enumerate(shapes)})


def test_the_module_holds_this_operator_alone() -> None:
    assert declared_in(decoding) == {NAME}


def test_a_factor_that_the_format_does_not_hold_is_off_by_a_rounding() -> None:
    unit = FORMATS["float32"].unit
    assert [decoding._number(each, "float32").error for each in (0.1, 0.3)] == [
        0.1 * unit,
        0.3 * unit,
    ]
    for held in (0.5, 1.0, 4.0):
        assert decoding._number(held, "float32").error == 0


def test_a_score_of_0_is_on_a_threshold_of_0_for_sure() -> None:
    scores = exact(np.array([[[0.0, 0.5]]]), "float32")
    for threshold, room in ((0.0, [False, False]), (0.5, [False, True])):
        node = Node("y", NAME, (), {"threshold": threshold, "apply_softmax": False})
        assert np.isinf(decoding._scores(node, scores).error[0, 0]).tolist() == room
