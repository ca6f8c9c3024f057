"""Reductions over any axes and of any dtype agree with PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.reducing.reductions import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "amax": programs(lambda x: torch.amax(x, 1), floats(2, 3)),
        "products": programs(torch.prod, integers(2, 3, dtype=torch.int32)),
        "any": programs(lambda x: torch.any(x, 1), floats(2, 3)),
        "deviation": programs(lambda x: torch.std(x, 1), floats(2, 3)),
        "norms": programs(lambda x: torch.linalg.vector_norm(x, 0), floats(2, 3)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


DIMS = [0, -1, (0, 2), None]


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(
    "function",
    [torch.sum, torch.mean, torch.amax, torch.amin, torch.var, torch.std, torch.any, torch.all],
)
def test_axes(function: Callable[..., Any], dim: Any, keepdim: bool) -> None:
    if function in (torch.amax, torch.amin) and dim is None:
        dim = ()
    check(lambda x: function(x, dim=dim, keepdim=keepdim), floats(2, 3, 4))


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.int64])
def test_integers(dtype: torch.dtype) -> None:
    data = (integers(2, 3) > 0) if dtype is torch.bool else integers(2, 3).abs().to(dtype)
    check(lambda x: (x.sum(), x.sum(1), x.prod(), x.prod(1), x.any(1), x.all()), data)
    check(lambda x: (x.amax(1), x.amin(), x.max(), x.max(1), x.min(0, keepdim=True)), data)
    check(lambda x: (x.sum(dtype=torch.float32), x.to(torch.float32).mean(1)), data)


def test_other_dtypes() -> None:
    check(lambda x: x.sum(1, dtype=torch.float64), floats(2, 3))
    check(lambda x: x.mean(1, dtype=torch.float64), integers(2, 3))
    check(lambda x: x.prod(1, dtype=torch.float64), integers(2, 3))
    check(lambda x: (x.std(1), x.var()), floats(2, 30, dtype=torch.float16))


@pytest.mark.parametrize("correction", [0, 1, 2, 0.5, 3])
def test_corrections(correction: float) -> None:
    check(lambda x: torch.var(x, 1, correction=correction), floats(2, 3))
    check(lambda x: torch.std_mean(x, 1, correction=correction, keepdim=True), floats(2, 3))


@pytest.mark.parametrize("order", [0, 1, 2, 3.5, float("inf"), float("-inf")])
@pytest.mark.parametrize("dim", DIMS)
def test_norms(order: float, dim: Any) -> None:
    check(lambda x: torch.linalg.vector_norm(x, order, dim), floats(2, 3, 4))


def test_places() -> None:
    check(lambda x: (x.argmax(), x.argmin(1), x.argmax(-1, keepdim=True)), floats(2, 3, 4))


def test_no_dimensions() -> None:
    check(lambda x: (x.sum(), x.sum(0), x.amax(-1, keepdim=True), x.max(0)), torch.tensor(2.5))
    check(lambda x: (x.argmax(), x.any(0), x.std(unbiased=False)), torch.tensor(2.5))


def test_symbolic_sizes() -> None:
    check(
        lambda x: (x.std(0), x.var(), x.sum((0, 2)), x.mean(0), x.max(0)),
        floats(4, 2, 3),
        dynamic=[(0, 1)],
        again=[[floats(2, 5, 3)]],
    )
