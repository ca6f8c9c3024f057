"""GatherElements and GatherND with indices from the end agree with ONNX Runtime."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.movement.gathering import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import NodeCase, check, programs
from tests.fixes.presence import needed

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def elements(axis: int, dtype: str = "int64", opset: int = 13) -> NodeCase:
    size = DATA.shape[axis]
    indices = np.arange(-size, size).reshape(2, 1, size).astype(dtype)
    return NodeCase("GatherElements", opset, {"data": DATA, "indices": indices}, {"axis": axis})


def slices(rows: list[list[int]], batches: int = 0, opset: int = 13) -> NodeCase:
    indices = np.array(rows, np.int64)
    settings = {"batch_dims": batches} if batches else {}
    return NodeCase("GatherND", opset, {"data": DATA, "indices": indices}, settings)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "elements": programs(elements(2)),
        "slices": programs(slices([[-1, 2, -4]])),
    }
}

CURES: whole.Cures = {
    "onnx-gather-elements-negative": ((FIX.name, "elements"),),
    "onnx-gather-nd-negative": ((FIX.name, "slices"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("axis", [0, 2, -1, -2])
@pytest.mark.parametrize(("dtype", "opset"), [("int64", 13), ("int32", 11)])
def test_elements(axis: int, dtype: str, opset: int) -> None:
    case = elements(axis, dtype, opset)
    check(case)
    check(replace(case, held=("indices",), shapes={"data": ("A", "B", "C")}))


@pytest.mark.parametrize(
    ("rows", "batches"),
    [
        ([[-1], [0]], 0),
        ([[-1, -3], [1, 0]], 0),
        ([[-1, 2, -4], [0, -1, 3]], 0),
        ([[-1], [2]], 1),
        ([[-3, -1], [2, 0]], 1),
    ],
)
@pytest.mark.parametrize("opset", [12, 13])
def test_slices(rows: list[list[int]], batches: int, opset: int) -> None:
    case = slices(rows, batches, opset)
    check(case)
    check(replace(case, shapes={"data": ("A", "B", "C"), "indices": ("A", len(rows[0]))}))


def test_errors_name_operator_and_attribute() -> None:
    if not needed(FIX):
        pytest.skip("TVM's own converters are in place")
    with pytest.raises(ValueError, match=r"GatherElements is invalid with axis=3"):
        check(replace(elements(2), attributes={"axis": 3}))
    with pytest.raises(ValueError, match=r"GatherND is invalid with indices=.* 3 axes"):
        check(slices([[0, 0, 0, 0]]))
