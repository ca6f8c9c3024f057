"""Scatters and places: all agree at values worked out here; what order decides is open."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal, Random, Within
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.reference.estimate import FORMATS
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.oracles.agreeing import agree, program_of, wrong_is_seen

REDUCTIONS = ("update", "add", "mul", "max", "min")
KINDS = ("float32", "int64", "float32")
DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int64")


def elements(reduction: str, places: tuple[int, ...], dtype: str = "float32") -> Bounded:
    """Two and five, scattered into 1, 2, 3."""
    fills = [Literal((1, 2, 3)), Literal(places), Literal((2, 5))]
    kinds = (dtype, "int64", dtype)
    program = program_of("scatter_elements", [(3,), (2,), (2,)], kinds, fills, reduction=reduction)
    return agree(program, oracles=1 if reduction == "mean" else 2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("reduction", "wanted"),
    [
        ("update", [5, 2, 2]),
        ("add", [6, 2, 5]),
        ("mul", [5, 2, 6]),
        ("max", [5, 2, 3]),
        ("min", [1, 2, 2]),
    ],
)
def test_each_reduction(dtype: str, reduction: str, wanted: list[int]) -> None:
    result = elements(reduction, (-1, 0), dtype)
    assert result.value.tolist() == wanted
    assert not result.bound.any()


def test_a_mean_is_of_two() -> None:
    assert elements("mean", (2, 0)).value.tolist() == [3, 2, 2.5]


@pytest.mark.parametrize(("reduction", "wanted"), [("add", 9), ("mul", 20), ("max", 5), ("min", 2)])
def test_several_updates_of_an_element(reduction: str, wanted: int) -> None:
    result = elements(reduction, (1, 1))
    assert result.value.tolist() == [1, wanted, 3]
    assert not result.bound.any()


def test_a_sum_with_one_update_is_of_two_terms() -> None:
    fills = [Literal((0.1, 0.2, 0.3)), Literal((-1, 0)), Literal((0.7, 0.9))]
    program = program_of("scatter_elements", [(3,), (2,), (2,)], KINDS, fills, reduction="add")
    result = agree(program)
    # An addition, and the distance of the reference itself: a third term would add as much again.
    assert (result.bound[[0, 2]] > 0).all()
    assert (result.bound[[0, 2]] < 2.5 * FORMATS["float32"].unit * result.value[[0, 2]]).all()


@pytest.mark.parametrize("reduction", ["update", "mean"])
def test_the_order_of_several_updates_is_open(reduction: str) -> None:
    assert np.isinf(elements(reduction, (1, 1)).bound).tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, -1])
def test_fewer_indices_than_elements(dtype: str, reduction: str, axis: int) -> None:
    shape, fewer = (4, 3, 5), (2, 3, 4)
    fills = [Random(), Within(shape[axis])]
    program = program_of(
        *("scatter_elements", [shape, fewer, fewer], (dtype, "int32", dtype), fills),
        axis=axis,
        reduction=reduction,
    )
    for regime in ("normal", "exact", "moderate", "boundary", "special"):
        reference = agree(program, regime)
        if regime == "exact" and reduction in ("max", "min"):
            assert not reference.bound.any()
            wrong_is_seen(reference)


def test_slices_meet_at_their_place() -> None:
    fills = [Literal((1, 2, 3, 4)), Literal((1, 1)), Literal((1, 2, 3, 4))]
    shapes = [(2, 2), (2, 1), (2, 2)]
    program = program_of("scatter_nd", shapes, KINDS, fills, reduction="add")
    assert agree(program).value.tolist() == [[1, 2], [7, 10]]


def test_no_updates_leave_the_data() -> None:
    program = program_of("scatter_nd", [(2, 2), (0, 1), (0, 2)], KINDS, [Literal((1, 2, 3, 4))])
    assert agree(program).value.tolist() == [[1, 2], [3, 4]]


CROSSED = [Literal((1, 2, 3, 4, 5, 6)), Literal((-1, 0)), Literal((2, -3, 1))]


def test_places_broadcast_together() -> None:
    kinds = ("float32", "int64", "int32")
    read = agree(program_of("index_tensor", [(2, 3), (2, 1), (3,)], kinds, CROSSED))
    assert read.value.tolist() == [[6, 4, 5], [3, 1, 2]]
    rows = agree(program_of("index_tensor", [(2, 3), (2, 1)], kinds[:2], CROSSED[:2]))
    assert rows.value.tolist() == [[[4, 5, 6]], [[1, 2, 3]]]


@pytest.mark.parametrize("accumulate", [False, True])
def test_values_are_put_at_places(accumulate: bool) -> None:
    kinds = ("int8", "int64", "int32", "int8")
    fills = [*CROSSED, Literal((1, 2, 3, 4, 5, 6))]
    shapes = [(2, 3), (2, 1), (3,), (2, 3)]
    put = agree(program_of("index_put", shapes, kinds, fills, accumulate=accumulate))
    wanted = np.array([[5, 6, 4], [2, 3, 1]]) + accumulate * np.array([[1, 2, 3], [4, 5, 6]])
    assert put.value.tolist() == wanted.tolist()


@pytest.mark.parametrize("shapes", [[(3,), (2,), (1,)], [(3,), (0,), (1,)], [(3,), (2,), ()]])
def test_a_value_belongs_to_each_place(shapes: list[tuple[int, ...]]) -> None:
    program = program_of("index_put", shapes, ("float32", "int64", "float32"))
    with pytest.raises(ValueError, match=r"values of shape .* for places of"):
        evaluate(program, arrays(Case("drawn", program), 0))


@pytest.mark.parametrize("place", [3, -4])
def test_a_place_beyond_the_axis_is_refused(place: int) -> None:
    fills = [Literal((1, 2, 3)), Literal((0, place)), Literal((2, 5))]
    program = program_of("scatter_elements", [(3,), (2,), (2,)], KINDS, fills)
    with pytest.raises(ValueError, match="not within 3"):
        evaluate(program, arrays(Case("drawn", program), 0))
