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


@pytest.mark.parametrize("correction", [0, 1, 2])
@pytest.mark.parametrize("count", [0, 1])
def test_corrections_of_few_elements(correction: int, count: int) -> None:
    for function in (torch.var, torch.std, torch.var_mean):
        check(
            lambda x, f=function: f(x, 1, correction=correction),
            floats(2, count),
            decomposed=(False,),
        )


NAN = float("nan")
NOT_NUMBERS = torch.tensor([[1, NAN, 3, NAN], [float("inf"), NAN, NAN, 0], [1, 4, 4, -2]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_not_a_number_is_an_extreme(dtype: torch.dtype) -> None:
    data = NOT_NUMBERS.to(dtype)
    check(lambda x: (x.amax(1), x.amin(0, keepdim=True), x.max(), x.min(), x[2].max()), data)
    check(lambda x: (x.max(1), x.min(0, keepdim=True)), data)
    check(lambda x: (x.argmax(), x.argmin(1), x.argmax(0, keepdim=True), x[2].argmax()), data)
    check(lambda x: torch.linalg.vector_norm(x, float("inf"), 1), data)


@pytest.mark.parametrize("name", ["any", "all"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.uint8])
def test_a_list_of_no_axes(name: str, dtype: torch.dtype) -> None:
    function = getattr(torch.ops.aten, name).dims
    data = (integers(2, 3) > 0).to(dtype)
    # PyTorch itself decomposes it to all axes.
    for dims in ([], None, [0, 1]):
        check(lambda x, dims=dims: function(x, dims), data, decomposed=(False,))


def test_sums_of_narrow_floats() -> None:
    check(lambda x: (x.sum(), x.sum(0)), torch.ones(4096, dtype=torch.float16))
    # NumPy has no bfloat16.
    check(lambda x: x.bfloat16().sum().float(), torch.ones(4096))
    check(lambda x: (x.mean(), x.mean(0)), torch.ones(70000, dtype=torch.float16))
    check(lambda x: (x.sum(), x.mean(), x.prod()), torch.tensor([999, 999, 1e-3]).half())


@pytest.mark.parametrize("order", [0, 1, 2, 3.5, float("inf"), float("-inf")])
@pytest.mark.parametrize("dim", DIMS)
def test_norms(order: float, dim: Any) -> None:
    check(lambda x: torch.linalg.vector_norm(x, order, dim), floats(2, 3, 4))


def test_places() -> None:
    check(lambda x: (x.argmax(), x.argmin(1), x.argmax(-1, keepdim=True)), floats(2, 3, 4))


def test_places_in_bfloat16() -> None:
    data = torch.tensor([[1.0, 3, torch.nan], [-2, 4, 4]])
    check(lambda x: (x.bfloat16().argmax(1), x.bfloat16()[1].argmin()), data)


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
