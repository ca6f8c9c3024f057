"""ONNX's Einsum agrees with NumPy."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.products.einsum import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


def case(equation: str, *shapes: tuple[int, ...]) -> NodeCase:
    arrays = [RANDOM.standard_normal(shape).astype(np.float32) for shape in shapes]
    inputs = {f"x{number}": array for number, array in enumerate(arrays)}
    expected = np.asarray(np.einsum(equation, *arrays))
    return NodeCase("Einsum", 12, inputs, {"equation": equation}, expected=(expected,))


def empty(equation: str = "ij,jk->ik") -> NodeCase:
    """Products of matrices with an empty inner axis, whose size is a symbol."""
    inputs = {"a": np.zeros((2, 0), np.float32), "b": np.zeros((0, 64), np.float32)}
    shapes = {"a": (2, "n"), "b": ("n", 64)}
    expected = (np.zeros((2, 64), np.float32),)
    return NodeCase("Einsum", 12, inputs, {"equation": equation}, shapes=shapes, expected=expected)


PROGRAMS: whole.Programs = {FIX.name: {"empty axes": programs(empty())}}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij, jk", [(2, 3), (3, 4)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("ii->i", [(3, 3)]),
        ("ij->ji", [(2, 3)]),
        ("i,i", [(4,), (4,)]),
        ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)]),
        # The ellipsis stands for no axes, of which the result may leave out all.
        ("...ij->ji", [(2, 3)]),
    ],
)
def test_equations(equation: str, shapes: list[tuple[int, ...]]) -> None:
    check(case(equation, *shapes))


def test_an_empty_axis() -> None:
    check(empty())


def test_errors_name_operator_and_equation() -> None:
    with pytest.raises(ValueError, match=r"Einsum is invalid with equation='ij,jk->ik'"):
        check(
            NodeCase("Einsum", 12, {"x": np.zeros((2, 2), np.float32)}, {"equation": "ij,jk->ik"})
        )


def test_a_result_that_drops_an_ellipsis_is_refused() -> None:
    inputs = {"a": np.ones((2, 3), np.float32), "b": np.ones(3, np.float32)}
    dropped = NodeCase("Einsum", 12, inputs, {"equation": "b...,...->b"})
    with pytest.raises(ValueError, match=r"Einsum is invalid.*leaves out the ellipsis"):
        check(dropped)
