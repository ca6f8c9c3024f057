"""Places that are not zero, and different elements: all agree at values worked out here."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal, Within
from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.oracles.agreeing import agree, program_of

FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = (*FLOATS, "int8", "uint8", "int32", "int64", "bool")
NAN, INF = float("nan"), float("inf")

ASKED = {"return_index": True, "return_inverse": True, "return_counts": True}
THREE = Literal((3, 1, 1, 0, 3, 3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_are_columns_in_row_major_order(dtype: str) -> None:
    fill = Literal((0, 1, 1, 0, 0, 1))
    places = agree(program_of("nonzero", [(2, 3)], dtype, [fill]))
    assert (places.value.tolist(), places.dtype) == ([[0, 0, 1], [1, 2, 2]], "int64")
    assert not places.bound.any()


def test_nan_and_infinity_are_not_zero_and_minus_zero_is() -> None:
    fill = Literal((NAN, -0.0, INF, 0.0, 1e-45))
    assert agree(program_of("nonzero", [(5,)], "float32", [fill])).value.tolist() == [[0, 2, 4]]


@pytest.mark.parametrize(("number", "places"), [(2, [[0]]), (0, [[]])])
def test_a_scalar_counts_as_a_vector(number: int, places: list[list[int]]) -> None:
    result = agree(program_of("nonzero", [()], "float32", [Literal((number,))]))
    assert result.value.tolist() == places


@pytest.mark.parametrize("shape", [(0,), (2, 0), (2, 3, 4), (4, 1, 3, 2)])
def test_every_rank_has_a_row_for_each_axis(shape: tuple[int, ...]) -> None:
    result = agree(program_of("nonzero", [shape], "int32", [Within(1)]))
    assert result.value.shape[0] == len(shape)


def _unique(shape: tuple[int, ...], fill: Literal, dtype: str = "float32", **rest: Any) -> Any:
    return agree(program_of("unique", [shape], dtype, [fill], **rest)).value.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_ascend(dtype: str) -> None:
    result = agree(program_of("unique", [(2, 3)], dtype, [Literal((1, 0, 1, 1, 0, 1))]))
    assert (result.value.tolist(), result.dtype) == ([0, 1], dtype)
    assert not result.bound.any()


def test_infinities_are_the_first_and_the_last() -> None:
    fill = Literal((INF, 2, -INF, INF))
    assert _unique((4,), fill, "float64") == [-INF, 2, INF]


@pytest.mark.parametrize(
    ("ascending", "wanted"),
    [
        (True, ([0, 1, 3], [3, 1, 0], [2, 1, 1, 0, 2, 2], [1, 2, 3])),
        (False, ([3, 1, 0], [0, 1, 3], [0, 1, 1, 2, 0, 0], [3, 2, 1])),
    ],
)
def test_places_and_counts_follow_the_order(ascending: bool, wanted: Any) -> None:
    for item, values in enumerate(wanted):
        rest: dict[str, Any] = {**ASKED, "sorted": ascending, "item": item}
        assert _unique((2, 3), THREE, **rest) == values, item


def test_items_are_those_that_are_asked_for() -> None:
    assert _unique((6,), THREE, return_counts=True, item=1) == [1, 2, 3]
    assert _unique((6,), THREE, return_inverse=True, return_counts=True, item=2) == [1, 2, 3]


ROWS = Literal((1, 0, 2, 0, 1, 5, 1, 0, 2, 0, 1, 4))


@pytest.mark.parametrize(
    ("shape", "axis", "ascending", "wanted"),
    [
        ((4, 3), 0, True, [[0, 1, 4], [0, 1, 5], [1, 0, 2]]),
        ((4, 3), -2, False, [[1, 0, 2], [0, 1, 5], [0, 1, 4]]),
        ((2, 6), 1, False, [[1, 0, 2, 0, 1, 5], [1, 0, 2, 0, 1, 4]]),
        ((2, 6), -1, True, [[0, 0, 1, 1, 2, 5], [0, 0, 1, 1, 2, 4]]),
    ],
)
def test_subtensors_along_an_axis_are_ordered_by_their_elements(
    shape: tuple[int, ...], axis: int, ascending: bool, wanted: Any
) -> None:
    result = _unique(shape, ROWS, axis=axis, sorted=ascending)
    if shape == (2, 6):
        # Columns that are the same in both rows are one.
        pairs = list(zip(ROWS.values[:6], ROWS.values[6:], strict=True))
        wanted = list(dict.fromkeys(pairs))
        wanted = [list(row) for row in zip(*(sorted(wanted) if ascending else wanted), strict=True)]
    assert result == wanted


def test_a_scalar_is_one_element_and_nothing_has_none() -> None:
    assert _unique((), Literal((7,))) == [7]
    assert _unique((), Literal((7,)), return_inverse=True, item=1) == [0]
    assert _unique((0,), Literal(())) == []
    assert agree(program_of("unique", [(0, 2)], axis=0)).value.shape == (0, 2)


@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_that_is_not_there_is_refused(axis: int) -> None:
    program = program_of("unique", [(2, 3)], axis=axis)
    with pytest.raises(ValueError, match=f"axis {axis} of rank 2"):
        evaluate(program, {"x0": np.ones((2, 3), np.float32)})


def test_nan_is_refused() -> None:
    program = program_of("unique", [(2,)], "float32")
    with pytest.raises(ValueError, match="NaN"):
        evaluate(program, {"x0": np.array([NAN, 1], np.float32)})


@pytest.mark.parametrize("operator", ["nonzero", "unique"])
def test_rounded_elements_are_not_counted(operator: str) -> None:
    nodes = (Node("e", "exp", ("x",)), Node("y", operator, ("e",)))
    program = Program((Input("x", (3,), "float32"),), nodes, ("y",))
    with pytest.raises(Unsupported, match=f"{operator} of elements that are not exact"):
        evaluate(program, {"x": np.ones(3, np.float32)})
