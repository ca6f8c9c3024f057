"""Grids and distances agree with PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.sampling import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")

IMAGE = floats(2, 1, 4, 5)
GRID = floats(2, 2, 3, 2) * 0.7
VOLUME = floats(1, 2, 3, 2, 4)
PLACES = floats(1, 2, 1, 3, 3) * 0.7

PROGRAMS: whole.Programs = {
    FIX.name: {
        "grids": programs(F.grid_sample, IMAGE, GRID),
        "volumes": programs(F.grid_sample, VOLUME, PLACES),
        "maps": programs(lambda x: F.affine_grid(x, [2, 1, 3, 4]), floats(2, 2, 3)),
        "distances": programs(torch.cdist, floats(4, 3), floats(2, 3)),
        "own distances": programs(F.pdist, floats(4, 3)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("aligns", [False, True])
def test_grids(method: str, padding: str, aligns: bool) -> None:
    check(lambda x, g: F.grid_sample(x, g, method, padding, aligns), IMAGE, GRID)


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("aligns", [False, True])
def test_volumes(method: str, padding: str, aligns: bool) -> None:
    check(lambda x, g: F.grid_sample(x, g, method, padding, aligns), VOLUME, PLACES)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_volumes_of_another_dtype(dtype: torch.dtype) -> None:
    check(lambda x, g: F.grid_sample(x, g), VOLUME.to(dtype), PLACES.to(dtype))


def test_no_volumes() -> None:
    check(lambda x, g: F.grid_sample(x, g), VOLUME[:0], PLACES[:0])


@pytest.mark.parametrize("aligns", [False, True])
def test_maps(aligns: bool) -> None:
    # PyTorch itself does not decompose what it exports of them.
    for size in ([2, 1, 3, 4], [2, 1, 1, 2], [2, 1, 3, 4, 2], [2, 1, 1, 2, 3]):
        check(
            lambda x, size=size: F.affine_grid(x, size, aligns),
            floats(2, len(size) - 2, len(size) - 1),
            decomposed=(False,),
        )


@pytest.mark.parametrize("order", [0.0, 1.0, 2.0, 3.0, float("inf")])
def test_distances(order: float) -> None:
    function: Callable[..., Any] = lambda x, y: torch.cdist(x, y, order)  # noqa: E731
    check(function, floats(4, 3), floats(2, 3) + 0.1)
    check(function, floats(2, 4, 3), floats(1, 2, 3) + 0.1)


@pytest.mark.parametrize("order", [0.0, 1.0, 2.0, 3.5, float("inf")])
def test_own_distances(order: float) -> None:
    check(lambda x: F.pdist(x, order), floats(5, 3))
