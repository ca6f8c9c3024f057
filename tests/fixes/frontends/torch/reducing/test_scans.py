"""Running sums and products agree with PyTorch, dtypes too."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.reducing.scans import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "bools": programs(lambda x: torch.cumsum(x, 0), integers(6) > 0),
        "no dimensions": programs(lambda x: torch.cumprod(x, 0), torch.tensor(2.0)),
        "missing": programs(lambda x: torch.cummax(x, 0), floats(6)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("scan", [torch.cumsum, torch.cumprod])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.int64, torch.float32])
def test_dtypes(scan: Callable[..., Any], dim: int, dtype: torch.dtype) -> None:
    check(lambda x: scan(x, dim), integers(2, 3, 4).to(dtype))


def test_other_dtypes() -> None:
    check(lambda x: torch.cumsum(x, 1, dtype=torch.int32), integers(2, 3))
    check(lambda x: torch.cumsum(x, 0, dtype=torch.float64), floats(2, 3))


def test_no_dimensions() -> None:
    check(lambda x: torch.cumsum(x, -1), torch.tensor(3))


def test_symbolic_sizes() -> None:
    check(
        lambda x: torch.cumsum(x > 0, 1),
        floats(2, 3),
        dynamic=[(0, 1)],
        again=[[floats(4, 5)]],
    )


@pytest.mark.parametrize("scan", [torch.cummax, torch.cummin])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float16, torch.float32])
def test_extremes(scan: Callable[..., Any], dim: int, dtype: torch.dtype) -> None:
    check(lambda x: scan(x, dim), integers(2, 5, 3).to(dtype))


def test_extremes_at_corners() -> None:
    nan = float("nan")
    check(lambda x: torch.cummax(x.bfloat16(), 0).values.float(), torch.tensor([1.0, 3, nan, 2, 5]))
    check(lambda x: torch.cummax(x, 0), torch.tensor([1.0, 3, 3, nan, 2, nan, 5]))
    check(lambda x: torch.cummin(x, -1), torch.tensor(3))
    check(lambda x: torch.cummin(x, 1), floats(2, 3), dynamic=[(0, 1)], again=[[floats(4, 5)]])
