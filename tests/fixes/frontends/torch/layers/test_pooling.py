"""Averages and largest elements of windows agree with PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.pooling import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "divisors": programs(lambda x: F.avg_pool2d(x, 2, divisor_override=3), floats(1, 2, 4, 5)),
        "adaptive": programs(lambda x: F.adaptive_max_pool2d(x, (2, 3)), floats(1, 2, 4, 5)),
        "one sample": programs(lambda x: F.adaptive_avg_pool1d(x, 2), floats(3, 5)),
        "symbolic": programs(
            lambda x: F.adaptive_avg_pool2d(x, (None, 2)),
            floats(1, 2, 4, 5),
            dynamic=[(2,)],
            again=[[floats(1, 2, 3, 5)]],
        ),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
        {"kernel_size": 2, "stride": 3, "padding": 1, "ceil_mode": True},
        {"kernel_size": 3, "stride": 2, "ceil_mode": True, "count_include_pad": False},
        {"kernel_size": 2, "divisor_override": 3},
    ],
)
def test_averages(rank: int, settings: dict[str, Any]) -> None:
    if rank == 1 and "divisor_override" in settings:
        return
    function: Callable[..., Any] = getattr(F, f"avg_pool{rank}d")
    check(lambda x: function(x, **settings), floats(2, 1, *range(4, 4 + rank)))
    check(lambda x: function(x[0], **settings), floats(2, 1, *range(4, 4 + rank)))


@pytest.mark.parametrize("size", [1, 2, (3, 2), (None, 2)])
def test_adaptive(size: Any) -> None:
    check(lambda x: F.adaptive_max_pool2d(x, size), floats(2, 1, 5, 7))
    check(lambda x: F.adaptive_max_pool2d(x, size, return_indices=True), floats(1, 5, 7))


def test_adaptive_averages() -> None:
    check(lambda x: (F.adaptive_avg_pool1d(x, 3), F.adaptive_avg_pool1d(x[0], 5)), floats(2, 3, 7))
    check(lambda x: F.adaptive_avg_pool2d(x, (5, None)), floats(3, 7, 6))
    check(lambda x: F.adaptive_avg_pool3d(x, (1, 2, 3)), floats(3, 4, 6, 5))


def test_averages_of_integers() -> None:
    data = integers(1, 2, 5, 5)
    check(lambda x: (F.avg_pool2d(x, 2), F.avg_pool2d(x, 2, divisor_override=3)), data)


def test_lines_volumes_and_ties() -> None:
    check(lambda x: F.adaptive_max_pool1d(x, 3), floats(1, 2, 7))
    check(lambda x: F.adaptive_max_pool3d(x, (2, 1, 3)), floats(1, 1, 4, 3, 5))
    same = torch.ones(1, 1, 4, 4)
    check(lambda x: F.adaptive_max_pool2d(x, 2, return_indices=True), same)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_places_of_not_a_number(dtype: torch.dtype) -> None:
    data = floats(1, 2, 5, 7, dtype=dtype)
    data[0, 0, 0, 1] = data[0, 0, 1, 0] = data[0, 1, 4, 4] = float("nan")
    data[0, 1, :2, :2] = -float("inf")
    check(lambda x: F.adaptive_max_pool2d(x, (2, 3), return_indices=True), data)
    check(lambda x: F.adaptive_max_pool1d(x, 3, return_indices=True), data[0])
    check(lambda x: F.adaptive_max_pool3d(x, (1, 2, 3), return_indices=True), data)


def test_symbolic_sizes() -> None:
    check(
        lambda x: (F.avg_pool2d(x, 2), F.adaptive_max_pool2d(x, (2, 1))),
        floats(2, 1, 4, 6),
        dynamic=[(0, 2)],
        again=[[floats(3, 1, 7, 6)]],
    )


def test_as_many_averages_as_a_symbol_says() -> None:
    check(
        lambda x: F.adaptive_avg_pool2d(x, (x.shape[0], None)),
        floats(2, 3, 5, 4),
        dynamic=[(0, 2, 3)],
        again=[[floats(3, 3, 7, 6)], [floats(5, 3, 4, 3)]],
    )
    check(
        lambda x: F.adaptive_avg_pool3d(x, (None, 2, 1)),
        floats(3, 5, 4, 3, dtype=torch.float16),
        dynamic=[(1,)],
        again=[[floats(3, 2, 4, 3, dtype=torch.float16)]],
    )
