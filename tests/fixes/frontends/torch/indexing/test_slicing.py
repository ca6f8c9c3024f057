"""Slices of a stated length and sliding windows agree with PyTorch."""

from collections.abc import Iterator

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
