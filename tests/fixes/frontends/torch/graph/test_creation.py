"""Tensors that a program makes have the dtype that it names."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.graph.creation import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "like another": programs(lambda x: torch.zeros_like(x, dtype=torch.int64), floats(3)),
        "by another": programs(lambda x: x.new_ones(2, dtype=torch.int64), floats(3)),
        "missing": programs(lambda x: x.new_full((2,), 3.5), floats(3)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("dtype", [None, torch.bool, torch.int8, torch.int64, torch.float64])
def test_dtypes(dtype: torch.dtype | None) -> None:
    function: Callable[..., Any]
    for function in (
        lambda x: (torch.zeros_like(x, dtype=dtype), torch.ones_like(x, dtype=dtype)),
        lambda x: (torch.full_like(x, 3, dtype=dtype), torch.full_like(x, 2.5, dtype=dtype)),
        lambda x: (x.new_zeros(2, 3, dtype=dtype), x.new_ones((2,), dtype=dtype)),
        lambda x: x.new_full((2, 1), 7, dtype=dtype),
    ):
        check(function, floats(2, 3))
        check(function, integers(2, 3))


def test_values_that_are_no_numbers() -> None:
    check(lambda x: (torch.full_like(x, float("inf")), torch.full_like(x, float("nan"))), floats(3))


def test_sizes_as_tensors() -> None:
    check(
        lambda x: x + torch.scalar_tensor(x.shape[0]) + torch.scalar_tensor(2, dtype=torch.int64),
        floats(2, 3),
        dynamic=[(0,)],
        again=[[floats(5, 3)]],
    )


def test_symbolic_sizes_of_new_tensors() -> None:
    check(
        lambda x: (torch.zeros(x.shape[0], 2, dtype=torch.int32), torch.ones(x.shape[0]) + x[:, 0]),
        floats(2, 3),
        dynamic=[(0,)],
        again=[[floats(5, 3)]],
    )
    check(lambda x: torch.full((x.shape[0],), 2.5), floats(2, 3), dynamic=[(0,)])


def test_symbolic_sizes() -> None:
    check(
        lambda x: (torch.ones_like(x, dtype=torch.int64), x.new_full((x.shape[0], 2), 1.5)),
        floats(2, 3),
        dynamic=[(0,)],
        again=[[floats(5, 3)]],
    )


@pytest.mark.parametrize("offset", [-1, 0, 2, -5])
@pytest.mark.parametrize("dtype", [None, torch.int32])
def test_triangles(offset: int, dtype: torch.dtype | None) -> None:
    for make in (torch.tril_indices, torch.triu_indices):
        check(lambda x, f=make: f(3, 4, offset, dtype=dtype) + x, integers(2, 1))
