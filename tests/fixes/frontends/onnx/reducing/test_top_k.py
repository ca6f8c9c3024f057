"""ONNX's TopK agrees with ONNX Runtime."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.reducing.top_k import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


DATA = RANDOM.permutation(24).reshape(2, 3, 4)


def top(data: Array, count: int, opset: int = 11, held: bool = False, **settings: int) -> NodeCase:
    inputs = {"X": data, "K": np.array([count], np.int64)}
    return NodeCase("TopK", opset, inputs, settings, ("K",) if held else (), outputs=2)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "numbers at run time": programs(top(DATA.astype(np.float32), 2)),
        "any order": programs(top(DATA.astype(np.float32), 1, held=True, sorted=0)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("largest", [0, 1])
def test_axes(axis: int, largest: int) -> None:
    data = DATA.astype(np.float32)
    for held in (False, True):
        check(top(data, 2, held=held, axis=axis, largest=largest))
    check(top(data, 2, 10, held=True, axis=axis))


def test_the_first_version() -> None:
    data = DATA.astype(np.float32)
    check(NodeCase("TopK", 7, {"X": data}, {"k": 2, "axis": 1}, outputs=2))


@pytest.mark.parametrize(
    "dtype", ["float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"]
)
def test_dtypes(dtype: str) -> None:
    data = DATA.astype(dtype)
    order = np.argsort(-DATA, 2, kind="stable")[..., :3]
    expected = (np.take_along_axis(data, order, 2), order)
    inputs = {"X": data, "K": np.array([3], np.int64)}
    check(NodeCase("TopK", 11, inputs, outputs=2, expected=expected))


def test_integers_of_64_bits_without_a_sign() -> None:
    data = np.array([1, 2**64 - 1, 2**63, 0], np.uint64)
    expected = (data[[1, 2, 0, 3]], np.array([1, 2, 0, 3], np.int64))
    inputs = {"X": data, "K": np.array([4], np.int64)}
    check(NodeCase("TopK", 11, inputs, outputs=2, expected=expected))


def test_equal_elements_in_order() -> None:
    data = np.array([[1, 2, 1, 2], [0, 0, 0, 0]], np.float32)
    for largest in (0, 1):
        check(top(data, 3, largest=largest))


def test_symbolic_sizes() -> None:
    data = DATA.astype(np.float32)
    inputs = {"X": data, "K": np.array([2], np.int64)}
    shapes = {"X": ("B", 3, "n")}
    check(NodeCase("TopK", 11, inputs, shapes=shapes, outputs=2))


def test_errors_name_operator_and_number() -> None:
    with pytest.raises(ValueError, match=r"TopK is invalid with k=5"):
        check(top(DATA.astype(np.float32), 5, held=True))
