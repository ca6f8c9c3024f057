"""The largest elements of windows, and their places, agree with PyTorch."""

from collections.abc import Iterator

import pytest
import torch
from torch.nn import functional

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.maxima import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

POOL = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}

PROGRAMS: whole.Programs = {
    FIX.name: {
        "places": programs(
            lambda x: functional.max_pool2d(x, 2, return_indices=True), floats(1, 2, 4, 4)
        ),
        "no stride": programs(
            lambda x: torch.ops.aten.max_pool2d.default(x, [2, 2], [], [1, 1]), floats(1, 2, 4, 4)
        ),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    "settings", [{}, {"stride": 2, "padding": 1}, {"stride": 3, "ceil_mode": True, "dilation": 2}]
)
def test_settings(rank: int, settings: dict[str, int]) -> None:
    pool, data = POOL[rank], floats(2, 2, *(7, 6, 5)[:rank])
    check(lambda x: pool(x, 3, return_indices=True, **settings), data)
    check(lambda x: (pool(x, 2, **settings), pool(x[0], 2, **settings)), data)


def test_windows_behind_the_data() -> None:
    for size, stride, padding in ((2, 3, 1), (1, 2, 0), (1, 3, 0)):
        check(
            lambda x, w=(size, stride, padding): functional.max_pool2d(x, *w, ceil_mode=True),
            floats(1, 2, 5, 6),
        )


def test_ties_and_other_dtypes() -> None:
    data = integers(1, 2, 5, 6)
    data[0, 0] = 1
    for dtype in (torch.int64, torch.float16, torch.float64):
        check(lambda x: functional.max_pool2d(x, 3, 2, 1, return_indices=True), data.to(dtype))


def test_not_a_number_has_the_last_place() -> None:
    data = floats(1, 2, 5, 6)
    data[0, 0, 1, 2] = data[0, 1, 4, 5] = data[0, 1, 3, 5] = float("nan")
    check(lambda x: functional.max_pool2d(x, 3, 2, 1, return_indices=True), data)


def test_unpooling() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return functional.max_unpool2d(*functional.max_pool2d(x, 2, return_indices=True), 2)

    check(function, floats(1, 2, 4, 6))


def test_symbolic_sizes() -> None:
    check(
        lambda x: functional.max_pool2d(x, 2, return_indices=True),
        floats(2, 2, 4, 6),
        dynamic=[(0, 2, 3)],
        again=[[floats(3, 2, 5, 8)]],
    )
