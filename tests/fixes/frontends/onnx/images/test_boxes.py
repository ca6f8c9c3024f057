"""ONNX's NonMaxSuppression agrees with ONNX Runtime."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.images.boxes import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


def suppression(count: int = 6, **limits: float) -> dict[str, Array]:
    """Boxes of two images and the scores of three classes, and limits by name."""
    corners = RANDOM.random((2, count, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + 0.5], 2)
    scores = RANDOM.permutation(2 * 3 * count).reshape(2, 3, count).astype(np.float32)
    inputs: dict[str, Array] = {"boxes": boxes, "scores": scores}
    names = ("max_output_boxes_per_class", "iou_threshold", "score_threshold")
    for name in names[: len(limits)]:
        dtype = np.int64 if name == names[0] else np.float32
        inputs[name] = np.array([limits[name]], dtype)
    return inputs


def case(inputs: dict[str, Array], held: bool = False, **settings: int) -> NodeCase:
    names = tuple(inputs)[2:] if held else ()
    return NodeCase("NonMaxSuppression", 11, inputs, settings, held=names)


MOST = {"max_output_boxes_per_class": 4}
LIMITS = {**MOST, "iou_threshold": 0.25, "score_threshold": 9.0}

PROGRAMS: whole.Programs = {FIX.name: {"removed boxes": programs(case(suppression(**MOST), True))}}

CURES: whole.Cures = {
    "onnx-nms-threshold-left-out": ((FIX.name, "removed boxes"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_limits(held: bool, count: int) -> None:
    names = list(LIMITS)[:count]
    check(case(suppression(**{name: LIMITS[name] for name in names}), held))


@pytest.mark.parametrize("most", [0, 1, 100])
def test_numbers_of_boxes(most: int) -> None:
    check(case(suppression(max_output_boxes_per_class=most), True))


def test_no_limit_selects_nothing() -> None:
    check(case(suppression()))


def test_centers() -> None:
    check(case(suppression(**LIMITS), True, center_point_box=1))


def test_corners_in_any_order() -> None:
    inputs = suppression(**LIMITS)
    inputs["boxes"] = inputs["boxes"][..., [2, 1, 0, 3]]
    check(case(inputs))


def test_symbolic_sizes() -> None:
    inputs = suppression(**LIMITS)
    shapes = {"boxes": ("N", "n", 4), "scores": ("N", "C", "n")}
    check(NodeCase("NonMaxSuppression", 11, inputs, shapes=shapes))
    scalars = {
        name: array.reshape(()) if array.ndim == 1 else array for name, array in inputs.items()
    }
    check(NodeCase("NonMaxSuppression", 11, scalars, shapes=shapes))


def test_errors_name_operator_and_input() -> None:
    inputs = suppression(**MOST)
    inputs["boxes"] = inputs["boxes"][0]
    with pytest.raises(ValueError, match=r"NonMaxSuppression is invalid with shape of boxes="):
        check(case(inputs))
