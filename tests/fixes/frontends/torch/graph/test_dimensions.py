"""Dimensions that PyTorch fixes, or writes as expressions of others."""

from collections.abc import Iterator

import pytest
import sympy
import torch
from torch import nn
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.graph.dimensions import FIX, size_of
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, exported, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")

WEIGHT = floats(5)


def with_square(row: torch.Tensor, square: torch.Tensor) -> torch.Tensor:
    """The row, and its outer product with the square of n * n elements added."""
    return torch.outer(row, row) + square.view(row.shape[0], row.shape[0])


PROGRAMS: whole.Programs = {
    FIX.name: {
        "numbers": programs(lambda x: x + WEIGHT, floats(5), dynamic=[(0,)]),
        "squares": (lambda: squares_are_products(),),
    }
}


def squares_are_products() -> None:
    """A dimension of n * n elements is that, so that no other number is taken."""
    program = exported(with_square, (floats(3), floats(9)), [(0,), (0,)])
    main = from_exported_program(program)["main"]
    (count,), (square,) = map(tvm_api.shape_of, main.params)
    assert tvm_api.proves_equal(square, count * count)


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def test_a_dimension_that_a_weight_fixes() -> None:
    check(lambda x: (x + WEIGHT).sum(1), floats(2, 5), dynamic=[(0, 1)], again=[[floats(4, 5)]])


def test_layers_fix_their_channels() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Softmax(1))
    check(model.eval(), floats(2, 3, 5, 5), dynamic=[(0, 1, 2)], again=[[floats(3, 3, 6, 5)]])
    norm = nn.BatchNorm1d(3).eval()
    check(norm, floats(2, 3, 4), dynamic=[(1, 2)], again=[[floats(2, 3, 5)]])


def test_squares() -> None:
    squares_are_products()
    check(
        with_square,
        floats(3), floats(9),
        dynamic=[(0,), (0,)], again=[[floats(4), floats(16)]],
    )  # fmt: skip


def test_a_dimension_is_used_as_a_number() -> None:
    check(
        lambda x, y: x + (y.shape[0] == x.shape[0]) + (y.shape[0] > 2),
        floats(2, 4), floats(3),
        dynamic=[(0,), (0,)], again=[[floats(5, 4), floats(4)]],
    )  # fmt: skip


def test_a_function_that_sizes_lack_is_left() -> None:
    symbol = sympy.Symbol("s0", integer=True)
    assert size_of(sympy.Max(symbol, 3), {}) is None
    assert size_of(2 * sympy.Max(symbol, 3), {}) is None
