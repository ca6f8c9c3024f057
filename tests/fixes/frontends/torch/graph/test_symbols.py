"""Floats that symbolic sizes make agree with PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.graph.symbols import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "floats": programs(
            lambda x: x * (torch.sym_float(x.shape[0]) / 7),
            floats(3),
            dynamic=[(0,)],
            again=[[floats(5)]],
        )
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def test_arithmetic() -> None:
    function: Callable[..., Any]
    for function in (
        lambda x: x * (x.shape[0] / 3),
        lambda x: x + (torch.sym_float(x.shape[0]) - 1.5) * 2,
        lambda x: x - (2.5 + x.shape[0]) * x.shape[1],
        lambda x: x / -(x.shape[0] / x.shape[1]),
        lambda x: x * x.shape[0] + (x.shape[0] - x.shape[1]),
    ):
        check(function, floats(3, 2), dynamic=[(0, 1)], again=[[floats(5, 3)], [floats(2, 4)]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_the_dtype_of_the_tensor_stays(dtype: torch.dtype) -> None:
    check(
        lambda x: x * (x.shape[0] / 3), floats(3, 2, dtype=dtype), dynamic=[(0,)],
        again=[[floats(5, 2, dtype=dtype)]],
    )  # fmt: skip


def test_decomposed_cubic_interpolation() -> None:
    check(
        lambda x: F.interpolate(x, (5, 7), mode="bicubic", align_corners=True),
        floats(2, 1, 3, 4),
        dynamic=[(0, 2, 3)],
        again=[[floats(3, 1, 5, 2)]],
    )
