"""Arithmetic in the dtypes that PyTorch promotes operands to."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.elementwise.arithmetic import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")


def _sum_of_halves(x: torch.Tensor) -> torch.Tensor:
    """Two rows of the same size, by different ways; their sum is used further."""
    half = F.max_pool1d(x, 2)
    return torch.cat([F.max_pool1d(half, 2).repeat_interleave(2, 2) + half, half])


PROGRAMS: whole.Programs = {
    FIX.name: {
        "sizes": programs(
            _sum_of_halves, floats(1, 1, 8), dynamic=[(2,)], again=[[floats(1, 1, 12)]]
        ),
        "alpha": programs(lambda x, y: torch.add(x, y, alpha=2), floats(3), floats(3)),
        "numbers": programs(lambda x: x * 1.5, integers(4)),
        "quotients": programs(lambda x: x / 2, integers(4)),
        "comparisons": programs(lambda x: x < 2.5, integers(9)),
    }
}

ANY = (
    torch.mul,
    torch.div,
    torch.eq,
    torch.lt,
    torch.ge,
    torch.maximum,
    torch.minimum,
    torch.atan2,
    lambda x, y: x + y,
)
NUMBERS = (
    lambda x, y: torch.add(x, y, alpha=3),
    lambda x, y: torch.sub(x, y, alpha=-2),
    lambda x, y: torch.rsub(x, y, alpha=2),
    torch.remainder,
    torch.fmod,
    torch.floor_divide,
    lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    lambda x, y: torch.div(x, y, rounding_mode="floor"),
    torch.pow,
)


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def of(dtype: torch.dtype) -> torch.Tensor:
    """Operands of ``dtype``, none of them 0."""
    if dtype.is_floating_point:
        return floats(2, 3, dtype=dtype)
    if dtype is torch.bool:
        return integers(2, 3) > 0
    return integers(2, 3, dtype=dtype).abs() + 1


@pytest.mark.parametrize("function", ANY)
@pytest.mark.parametrize("left", [torch.bool, torch.int8, torch.int64, torch.float32])
@pytest.mark.parametrize("right", [torch.bool, torch.int32, torch.float64])
def test_any_dtypes(function: Callable[..., Any], left: torch.dtype, right: torch.dtype) -> None:
    check(function, of(left), of(right), decomposed=(False,))


@pytest.mark.parametrize("function", NUMBERS)
@pytest.mark.parametrize("left", [torch.int16, torch.float32])
@pytest.mark.parametrize("right", [torch.int64, torch.float16])
def test_numbers(function: Callable[..., Any], left: torch.dtype, right: torch.dtype) -> None:
    check(function, of(left), of(right), decomposed=(False,))


def test_signs_of_remainders() -> None:
    x, y = torch.tensor([7, -7, 7, -7]), torch.tensor([3, 3, -3, -3])
    for function in (torch.remainder, torch.fmod, torch.floor_divide):
        check(function, x, y)
        check(function, x + 0.5, y)
    check(lambda x: torch.div(x, 3, rounding_mode="floor"), x)


@pytest.mark.parametrize("number", [2, 2.5, True])
def test_numbers_of_python(number: float) -> None:
    for x in (of(torch.bool), integers(4), floats(4)):
        check(lambda x: (x * number, x + number, x / number, x > number), x)
        check(lambda x: number / (x + 5.5), x)


def test_differences_of_numbers() -> None:
    for x in (integers(4), floats(4)):
        check(lambda x: (2 - x, 2.5 - x, x - 0.5), x)


def test_a_tensor_without_dimensions_gives_way() -> None:
    check(torch.add, torch.tensor(1.5, dtype=torch.float64), floats(3))
    check(torch.mul, integers(3, dtype=torch.int8), torch.tensor(3))
    check(torch.mul, integers(3), torch.tensor(1.5))


def test_integers_to_a_power() -> None:
    base = torch.tensor([-2, -1, 0, 1, 3, 5])
    exponents = torch.tensor([[0], [1], [2], [13], [27]])
    check(torch.pow, base, exponents)
    check(lambda x: (x**3, 2 ** x.abs(), x.float() ** 2), base)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64])
def test_integers_to_a_large_power(dtype: torch.dtype) -> None:
    base = torch.tensor([3, 5, 2, 1, 255]).to(dtype)
    check(lambda x: (x**41, x**64, x**70, x**1, x**0), base)
    largest = torch.iinfo(dtype).max
    exponents = torch.tensor([[64], [100], [largest - 2], [largest]]).to(dtype)
    check(torch.pow, base, exponents)


def test_integers_to_a_negative_power() -> None:
    check(torch.pow, torch.tensor([2, -1, 1, -2]), torch.tensor([[-1], [-2], [-65], [-64]]))


def test_quotients_by_infinity() -> None:
    infinity = float("inf")
    left = torch.tensor([-1, 1, -1, 1, 0, infinity, -infinity, 3])
    right = torch.tensor([infinity, -infinity, -infinity, infinity, -infinity, 2, 2, 0])
    check(lambda x, y: torch.div(x, y, rounding_mode="floor"), left, right)
    check(lambda x, y: (torch.remainder(x, y), torch.floor_divide(x, y)), left, right)


def test_symbolic_sizes_as_numbers() -> None:
    check(
        lambda x: (x + x.shape[0], x * x.shape[0]),
        floats(3, 2),
        dynamic=[(0,)],
        again=[[floats(5, 2)]],
    )


def test_not_a_number_wins() -> None:
    x, y = torch.tensor([float("nan"), 1.0, 2.0]), torch.tensor([1.0, float("nan"), 3.0])
    check(lambda x, y: (torch.maximum(x, y), torch.minimum(x, y), torch.fmax(x, y)), x, y)
