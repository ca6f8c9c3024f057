"""The meaning of ``topk``, ``sort`` and ``argsort``: order, places, ties and NaN."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators import ordering
from tests.oracles.agreeing import agree_on

DATA = np.array([[3.0, 1.0, 2.0, 1.0], [0.0, np.nan, 5.0, 4.0]], np.float32)


def program(**attributes: Any) -> Program:
    node = Node("y", "topk", ("x",), attributes)
    return Program((Input("x", DATA.shape, "float32"),), (node,), ("y",))


def topk(**attributes: Any) -> Bounded:
    (result,) = evaluate(program(**attributes), {"x": DATA})
    return result


def test_the_largest_come_first() -> None:
    result = topk(k=2, ret_type="values")
    assert result.value[0].tolist() == [3.0, 2.0]
    assert (result.bound[0] == 0).all()
    assert topk(k=2, ret_type="indices").value[0].tolist() == [0, 2]


def test_the_smallest_come_first_where_largest_is_off() -> None:
    result = topk(k=3, ret_type="both", largest=False, item=0)
    assert result.value[0].tolist() == [1.0, 1.0, 2.0]
    assert (result.bound[0] == 0).all()


def test_the_places_of_equal_elements_are_not_defined() -> None:
    result = topk(k=4, ret_type="indices", largest=False)
    assert np.isinf(result.bound[0]).tolist() == [True, True, False, False]
    assert result.value[0, 2:].tolist() == [2, 0]


@pytest.mark.parametrize("kind", ["values", "indices"])
def test_nan_leaves_its_line_open(kind: str) -> None:
    result = topk(k=2, ret_type=kind)
    assert np.isinf(result.bound).tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize("k", [0, -1])
def test_all_elements_are_given_where_k_is_below_1(k: int) -> None:
    assert topk(k=k, ret_type="values").value.shape == DATA.shape


def test_more_elements_than_there_are_make_the_call_invalid() -> None:
    with pytest.raises(ValueError, match="no 5 elements among 4"):
        topk(k=5)


def test_rounded_operands_may_come_in_another_order() -> None:
    near = np.array([[1.0, 1.0 + 2**-22]], np.float32)
    nodes = (
        Node("e", "exp", ("x",)),
        Node("y", "topk", ("e",), {"k": 1, "ret_type": "indices"}),
        Node("z", "topk", ("e",), {"k": 1, "ret_type": "values"}),
    )
    whole = Program((Input("x", (1, 2), "float32"),), nodes, ("y", "z"))
    places, values = evaluate(whole, {"x": near})
    assert np.isinf(places.bound).all()
    assert 0 < values.bound.item() < 1e-5


def ordered(operator: str, data: np.ndarray[Any, Any], **attributes: Any) -> Bounded:
    node = Node("y", operator, ("x",), attributes)
    whole = Program((Input("x", data.shape, data.dtype.name),), (node,), ("y",))
    return agree_on(whole, {"x": data})


def test_sort_along_each_axis() -> None:
    data = np.array([[3, -1, 2], [0, 5, -4]], np.int8)
    assert ordered("sort", data).value.tolist() == [[-1, 2, 3], [-4, 0, 5]]
    assert ordered("sort", data, axis=-2).value.tolist() == [[0, -1, -4], [3, 5, 2]]
    assert ordered("sort", data, descending=True).value.tolist() == [[3, 2, -1], [5, 0, -4]]


def test_argsort_leaves_the_order_of_equal_elements_open() -> None:
    result = ordered("argsort", DATA[:1], descending=True, dtype="int64")
    assert result.value[0, :2].tolist() == [0, 2]
    assert np.isinf(result.bound[0]).tolist() == [False, False, True, True]
    assert result.dtype == "int64"


def test_nan_leaves_a_sorted_line_open() -> None:
    assert np.isinf(ordered("sort", DATA).bound).any(-1).tolist() == [False, True]


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("item", [0, 1])
def test_the_items_of_both_are_those_of_each_alone(oracle: str, item: int) -> None:
    distinct = {"x": np.array([[3, 1, 2, 0], [7, 9, 5, 4]], np.float32)}
    both = program(k=2, axis=0, ret_type="both", item=item, dtype="int64")
    alone = program(k=2, axis=0, ret_type=("values", "indices")[item], dtype="int64")
    (item_of_both,), (other,) = (ORACLES[oracle](each, distinct) for each in (both, alone))
    assert item_of_both.dtype == other.dtype
    assert np.array_equal(item_of_both, other)


def test_an_element_of_a_rank_lies_between_those_of_the_lower_and_of_the_upper_ends() -> None:
    value, error = np.array([1.0, 1.2]), np.array([0.0, 0.5])
    for largest, order, wanted in ((False, [0, 1], [0.3, 0.5]), (True, [1, 0], [0.5, 0.3])):
        ranked, off = ordering._ranked(value, error, np.array(order), largest)
        np.testing.assert_array_equal(ranked, value[order])
        np.testing.assert_allclose(off, wanted)
