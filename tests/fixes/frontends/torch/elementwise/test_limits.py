"""Limits of either side, of any dtype, agree with PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.elementwise.limits import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "one side": programs(lambda x: x.clamp(max=2), integers(6)),
        "largest": programs(lambda x: torch.clamp_max(x, 0.5), floats(6)),
        "dtypes": programs(lambda x: x.clamp(-0.5, 1.5), integers(6)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.clamp(max=1),
        lambda x: x.clamp(min=-1),
        lambda x: x.clamp(-1, 1),
        lambda x: x.clamp(1, -1),
        lambda x: x.clamp(-0.5, 1.5),
        lambda x: torch.clamp_min(x, 0),
        lambda x: torch.clamp_max(x, 0),
        lambda x: x.clamp(min=x[:1]),
        lambda x: x.clamp(max=x.double()[0]),
        lambda x: x.clamp(min=x[:, :1], max=x[1:2]),
    ],
)
@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float32, torch.float16])
def test_limits(function: Callable[..., Any], dtype: torch.dtype) -> None:
    data = integers(2, 3).abs().to(dtype) if dtype is torch.uint8 else integers(2, 3, dtype=dtype)
    check(function, data)


def test_not_a_number_stays() -> None:
    check(lambda x: (x.clamp(-1, 1), x.clamp(max=0)), torch.tensor([float("nan"), 2.0, -2.0]))
    check(lambda x, y: x.clamp(min=y), floats(2), torch.tensor([float("nan"), 0.0]))


def test_limits_of_bfloat16() -> None:
    limits = torch.tensor([float("nan"), 0.0])
    check(lambda x, y: x.bfloat16().clamp(min=y.bfloat16()).float(), floats(2), limits)


def test_hardtanh() -> None:
    for data in (floats(6), integers(6)):
        check(lambda x: torch.nn.functional.hardtanh(x, -1, 2), data)


@pytest.mark.parametrize("name", ["hardtanh", "relu6"])
def test_not_a_number_stays_in_activations(name: str) -> None:
    function = getattr(torch.nn.functional, name)
    check(function, torch.tensor([float("nan"), 7.0, -3.0, 0.5]))


def test_symbolic_sizes() -> None:
    check(
        lambda x: (x.clamp(max=2), x.clamp(max=x.shape[0])),
        integers(3, 2),
        dynamic=[(0,)],
        again=[[integers(1, 2)]],
    )
