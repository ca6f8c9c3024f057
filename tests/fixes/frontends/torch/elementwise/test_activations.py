"""Activations with any attributes agree with PyTorch."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.elementwise.activations import FIX
from relaxcheck.fixes.frontends.torch.probing import differs
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "ELU": (partial(check, nn.SELU(), floats(6), decomposed=(True,)),),
        "CELU": programs(nn.CELU(1.5), -floats(6)),
        "missing": programs(nn.Mish(), floats(6)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize(
    "module",
    [
        nn.ELU(),
        nn.ELU(0.5),
        nn.SELU(),
        nn.CELU(),
        nn.CELU(0.3),
        nn.Softplus(),
        nn.Softplus(2.0, 0.5),
        nn.Softsign(),
        nn.Softshrink(),
        nn.Softshrink(1.0),
        nn.Hardshrink(0.7),
        nn.Threshold(0.3, 2.0),
        nn.Mish(),
        nn.LogSigmoid(),
        nn.Tanhshrink(),
        nn.GELU("tanh"),
        nn.LeakyReLU(0.2),
        nn.RReLU().eval(),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_activations(module: nn.Module, dtype: torch.dtype) -> None:
    data = torch.cat([floats(9), torch.tensor([0.0, -30.0, 30.0, 1e-4, -1e-4])]).to(dtype)
    check(module, data)


def test_in_place_and_symbolic() -> None:
    function: Callable[..., Any] = lambda x: nn.functional.selu(x * 2, inplace=True)  # noqa: E731
    check(function, floats(3, 2), dynamic=[(0,)], again=[[floats(5, 2)]])
    check(nn.ELU(0.5), -(floats(3) ** 2))
    check(lambda x: nn.functional.threshold(x, 1, 2), integers(6))


def test_random_slopes_outside_of_training() -> None:
    data = floats(6).numpy()
    assert not differs("rrelu.default", data, 0.1, 0.5)
    assert not differs("rrelu_with_noise_functional.default", data, data, 0.1, 0.5)
