"""Results that PyTorch leaves open are unconstrained, and their neighbours are not."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.program import Many, Named, Node, Program, Ref, Tensor
from relaxcheck.oracles.torch.answers import Question, answer
from tests.oracles.torch.programs import asked

TIED = np.array([2, 1, 2, 0], np.float32)


def _open(
    target: str, *operands: Any, outputs: tuple[str, ...] = ("y",), **keywords: Any
) -> list[list[bool]]:
    found = answer(asked(target, *operands, outputs=outputs, **keywords))
    assert not found.splits
    return [np.isinf(each.bound).ravel().tolist() for each in found.outputs]


def test_conversion_of_what_no_integer_is() -> None:
    x = np.array([1.5, np.nan, np.inf, 3e9, -2147483648.0, 7], np.float32)
    assert _open("torch.Tensor.int", x) == [[False, True, True, True, False, False]]
    assert _open("torch.Tensor.long", x) == [[False, True, True, False, False, False]]
    assert _open("torch.Tensor.bool", x) == [[False] * 6]
    negative = np.array([-1, -0.5, 255, 256], np.float32)
    assert _open("torch.Tensor.to", negative, Named("uint8")) == [[True, False, False, True]]


def test_shifts_beyond_the_width() -> None:
    x, by = np.array([1, 1, 1, 1], np.int32), np.array([3, 31, 32, -1], np.int32)
    assert _open("torch.bitwise_left_shift", x, by) == [[False, False, True, True]]


@pytest.mark.parametrize(
    ("target", "arguments"),
    [("torch.sort", (0, True)), ("torch.topk", (3,))],
)
def test_the_order_of_ties(target: str, arguments: tuple[Any, ...]) -> None:
    values, indices = _open(target, TIED, *arguments, outputs=("y", "at"))
    assert not any(values)
    assert indices[:3] == [True, True, False]


def test_the_order_of_more_than_two_ties() -> None:
    tied = np.array([[3, 1, 1, 2, 1], [1, np.nan, 0, np.nan, np.nan]], np.float32)
    (order,) = _open("torch.argsort", tied)
    assert order == [True] * 3 + [False] * 2 + [False] * 2 + [True] * 3


@pytest.mark.parametrize("keepdim", [False, True])
def test_which_of_several_ties_is_chosen(keepdim: bool) -> None:
    tied = np.array([[3, 1, 1, 2, 1], [5, 4, 3, 2, 1]], np.float32)
    _, index = _open("torch.kthvalue", tied, 2, 1, keepdim, outputs=("y", "at"))
    assert index == [True, False]
    _, indices = _open("torch.topk", tied, 3, 1, outputs=("y", "at"))
    assert indices == [False, False, True, False, False, False]


def test_a_stable_order_and_the_first_of_the_largest_are_certain() -> None:
    assert _open("torch.argmax", TIED, 0) == [[False]]
    values, indices = _open(
        "torch.sort", TIED, outputs=("y", "at"), stable=True, dim=0, descending=True
    )
    assert not any((*values, *indices))


def test_which_element_stays_where_several_are_written() -> None:
    base, source = np.zeros(3, np.float32), np.array([1, 2, 3], np.float32)
    index = np.array([0, 1, 1])
    assert _open("torch.scatter", base, 0, index, source) == [[False, True, False]]
    assert _open("torch.index_copy", base, 0, index, source) == [[False, True, False]]


def test_which_element_stays_where_an_index_writes() -> None:
    base, source = np.zeros(3, np.float32), np.array([1, 2, 3], np.float32)
    tensors = (Tensor("x", (3,)), Tensor("w", (3,)), Tensor("at", (3,), "int64"))
    node = Node("torch.index_put", (Ref("x"), Many((Ref("at"),)), Ref("w")))
    arrays = {"x": base, "w": source, "at": np.array([0, 1, 1])}
    (output,) = answer(Question(Program(tensors, (node,), ("y",)), arrays, 0, "normal")).outputs
    assert np.isinf(output.bound).tolist() == [False, True, False]


def test_memory_that_nothing_wrote() -> None:
    assert _open("torch.empty_like", TIED) == [[True] * 4]
    assert _open("torch.empty", (2,), dtype=Named("int32")) == [[True] * 2]


def test_a_sum_that_overflows_in_some_order() -> None:
    x: Array = np.array([[60000, 10000, -60000], [1, 2, 3]], np.float16)
    assert _open("torch.sum", x, 1) == [[True, False]]
    assert _open("torch.sum", x.astype(np.float32), 1) == [[False, False]]
    assert _open("torch.mean", x, 1) == [[True, False]]


def test_an_infinity_decides_a_sum_in_every_order() -> None:
    mask = np.array([[-np.inf, 0], [0, -np.inf]], np.float16)
    ones = np.ones((2, 2), np.float16)
    assert _open("torch.addmm", mask, ones, ones) == [[False] * 4]
