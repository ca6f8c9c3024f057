"""Slices of a stated length, pieces and sliding windows agree with PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.indexing.slicing import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "narrow": programs(lambda x: x.narrow(0, 1, 3), floats(5)),
        "unfold": programs(lambda x: x.unfold(0, 2, 2), floats(5)),
        "pieces": programs(
            lambda x: x.split([x.shape[0] // 2, x.shape[0] - x.shape[0] // 2]),
            floats(4, 3),
            dynamic=[(0,)],
            again=[[floats(7, 3)]],
        ),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize(("start", "length"), [(0, 7), (2, 3), (-3, 2), (-1, 1), (4, 0)])
def test_narrow(start: int, length: int) -> None:
    check(lambda x: x.narrow(-1, start, length), floats(2, 7))


def test_narrow_of_symbolic_sizes() -> None:
    check(
        lambda x: (x.narrow(0, -2, 2), x.narrow(0, 1, 2), x.narrow(0, 1, x.shape[0] - 1)),
        floats(4, 3),
        dynamic=[(0,)],
        again=[[floats(9, 3)]],
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.chunk(3),
        lambda x: x.chunk(2, 1),
        lambda x: x.split((x.shape[0] + 1) // 2),
        lambda x: x.split([1, x.shape[0] - 1]),
        lambda x: (x.chunk(2, 1)[1], x.split(2, 1)[0]),
    ],
)
def test_pieces_of_symbolic_sizes(function: Callable[..., Any]) -> None:
    check(function, floats(5, 4), dynamic=[(0,)], again=[[floats(6, 4)]])


def test_pieces() -> None:
    check(lambda x: (*x.chunk(2), *x.split(3, 1), *x.split([1, 3, 0], -1)), floats(5, 4))


@pytest.mark.parametrize(("dim", "size", "step"), [(0, 2, 1), (1, 3, 2), (-1, 5, 7), (1, 0, 3)])
def test_unfold(dim: int, size: int, step: int) -> None:
    check(lambda x: x.unfold(dim, size, step), floats(2, 8, 5))
    check(lambda x: x.unfold(dim, size, step), integers(2, 8, 5))


def test_unfold_of_several_axes() -> None:
    check(lambda x: x.unfold(1, 3, 2).unfold(2, 2, 1), floats(2, 8, 5))


def test_unfold_of_no_dimensions() -> None:
    check(lambda x: (x.unfold(0, 1, 1), x.unfold(0, 0, 1)), torch.tensor(3.0))


def test_unfold_of_symbolic_sizes() -> None:
    check(lambda x: x.unfold(1, 4, 2), floats(2, 8), dynamic=[(0, 1)], again=[[floats(3, 11)]])
