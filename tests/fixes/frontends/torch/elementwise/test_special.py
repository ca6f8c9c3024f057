"""Shifts, signs and special functions agree with PyTorch."""

from collections.abc import Iterator

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.elementwise.special import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

NAN, INFINITY = float("nan"), float("inf")
NUMBERS = torch.tensor(
    [
        *(0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 1.5, -1.5, -2, 1, 2, 10.0),
        *(0.3, -0.7, 25.3, -8.2, 3e-5, -3e-5),
    ]
)
FRACTIONS = torch.tensor(
    [
        *(0.0, -0.0, 1, -1, NAN, 1.5, 0.3, -0.9, 0.5, 0.999, 1 - 6e-8, -0.99999),
        *(1e-8, 1e-20, 0.7),
    ]
)

PROGRAMS: whole.Programs = {
    FIX.name: {
        "shifts": programs(lambda x: x << 3, integers(4).abs()),
        "signs": programs(torch.copysign, floats(3), -floats(3)),
        "functions": programs(torch.lgamma, floats(3)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_functions(dtype: torch.dtype) -> None:
    functions = (torch.lgamma, torch.digamma, torch.erfc)
    check(lambda x: tuple(f(x) for f in functions), NUMBERS.to(dtype))
    check(torch.erfinv, FRACTIONS.to(dtype))


def test_functions_of_integers() -> None:
    functions = (torch.lgamma, torch.digamma, torch.erfc)
    check(lambda x: tuple(f(x) for f in functions), integers(9).abs() + 1)


def test_signs() -> None:
    check(
        lambda x, y: (torch.copysign(x, y), torch.signbit(x), torch.nextafter(x, y), x.sign()),
        *(NUMBERS, NUMBERS.flip(0)),
    )
    check(lambda x: (torch.copysign(x, -x), torch.signbit(x)), NUMBERS.half())
    check(lambda x: (torch.copysign(x, -2), torch.signbit(x), x.sign()), integers(8))
    check(lambda x: (torch.signbit(x), x.sign(), torch.sgn(x)), integers(8) > 0)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.int64])
def test_shifts(dtype: torch.dtype) -> None:
    places = (integers(9).abs() * 17).to(dtype)
    check(lambda x, y: (x << y, x >> y, x << 3, x >> 2), integers(9).to(dtype), places)
    check(lambda y: (torch.bitwise_right_shift(5, y), torch.bitwise_left_shift(y, 1)), places)
