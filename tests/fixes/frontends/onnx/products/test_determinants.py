"""ONNX's Det agrees with NumPy."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.products.determinants import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


def case(
    shape: tuple[int, ...], dtype: str = "float32", **shapes: tuple[int | str, ...]
) -> NodeCase:
    data = RANDOM.standard_normal(shape).astype(dtype)
    expected = np.asarray(np.linalg.det(data.astype(np.float64))).astype(dtype)
    return NodeCase("Det", 11, {"X": data}, shapes=shapes, expected=(expected,))


PROGRAMS: whole.Programs = {FIX.name: {"determinants": programs(case((3, 3)))}}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5, 5), (2, 3, 4, 4), (0, 2, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matrices(shape: tuple[int, ...], dtype: str) -> None:
    if 0 in shape:
        check(case(shape, dtype, X=("B", 2, 2)))
        return
    check(case(shape, dtype))


def test_rows_are_exchanged() -> None:
    data = np.array([[[0, 2], [3, 4]], [[1, 2], [2, 4]], [[0, 0], [0, 1]]], np.float32)
    expected = (np.array([-6, 0, 0], np.float32),)
    check(NodeCase("Det", 11, {"X": data}, expected=expected))


def test_symbolic_sizes() -> None:
    check(case((2, 4, 4), X=("B", "n", "n")))


def test_errors_name_operator_and_input() -> None:
    with pytest.raises(ValueError, match=r"Det is invalid with shape of X="):
        check(NodeCase("Det", 11, {"X": np.zeros((2, 3), np.float32)}))
