"""Functions of one operand of any dtype, and choices, agree with PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.elementwise.functions import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "integers": programs(torch.exp, integers(4)),
        "reciprocals": programs(torch.reciprocal, integers(4).abs() + 1),
        "choices": programs(
            lambda c, x, y: torch.where(c > 0, x, y), integers(4), integers(4), floats(4)
        ),
        "missing": programs(torch.exp2, floats(4)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


FLOATS = (
    torch.exp,
    torch.expm1,
    torch.exp2,
    torch.sin,
    torch.tanh,
    torch.sigmoid,
    torch.atan,
    torch.erf,
)
POSITIVE = (torch.log, torch.log1p, torch.log2, torch.log10, torch.sqrt, torch.rsqrt)
WHOLE = (torch.floor, torch.ceil, torch.trunc)
KINDS = (torch.isnan, torch.isinf, torch.isfinite)


def test_kinds_of_narrow_floats() -> None:
    data = torch.tensor([1.0, torch.nan, torch.inf, -torch.inf, 0.0])
    for dtype in (torch.float16, torch.bfloat16):
        check(lambda x, to=dtype: [each(x.to(to)) for each in KINDS], data)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.int64, torch.float32])
def test_dtypes(dtype: torch.dtype) -> None:
    data = integers(6).to(dtype)
    several: Callable[..., Any] = lambda x: [each(x) for each in FLOATS]  # noqa: E731
    check(several, data)
    check(
        lambda x: [each(x) for each in (*POSITIVE, torch.reciprocal)],
        data.abs() + 1 if dtype is not torch.bool else data | True,
    )
    check(lambda x: [each(x) for each in KINDS], data)
    if dtype is not torch.bool:
        check(lambda x: [each(x) for each in WHOLE], data)


def test_small_numbers_keep_their_digits() -> None:
    tiny = torch.tensor([1e-30, -1e-30, 1e-12])
    check(lambda x: (torch.expm1(x) * 1e30, torch.log1p(x) * 1e30), tiny)


def test_choices() -> None:
    check(lambda c, x: torch.where(c > 0, x, 2.5), integers(4), floats(4))
    check(lambda c, x: torch.where(c > 0, 1, x), integers(4), integers(4, dtype=torch.int8))
    check(lambda c, x: torch.where(c > 0, x, x.double()[:1]), integers(4), floats(4))
