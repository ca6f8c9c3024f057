"""Interpolation in any size agrees with PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.resizing import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "nearest": programs(lambda x: F.interpolate(x, (3, 5)), floats(1, 2, 2, 3)),
        "factors": programs(
            lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), floats(1, 2, 2, 3)
        ),
        "lines": programs(
            lambda x: F.interpolate(x, 5, mode="linear", align_corners=True), floats(1, 2, 3)
        ),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


SIZES = [{"size": (3, 5)}, {"size": (7, 2)}, {"scale_factor": 2}, {"scale_factor": (1.7, 0.6)}]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
def test_planes(size: dict[str, Any], mode: str) -> None:
    check(lambda x: F.interpolate(x, mode=mode, **size), floats(1, 2, 4, 3))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_aligned_corners(mode: str) -> None:
    for size in ((3, 5), (1, 7)):
        check(
            lambda x, size=size: F.interpolate(x, size, mode=mode, align_corners=True),
            floats(1, 2, 4, 3),
        )


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "trilinear"])
def test_lines_and_volumes(mode: str) -> None:
    shape = (1, 2, 3) if mode == "linear" else (1, 1, 2, 3, 2)
    size = (5,) if mode == "linear" else (3, 4, 5)
    check(lambda x: F.interpolate(x, size, mode=mode), floats(*shape))
    if mode.startswith("nearest"):
        check(lambda x: F.interpolate(x, 5, mode=mode), floats(1, 2, 3))


@pytest.mark.parametrize("factor", [1.1, 1.3, 2.3])
@pytest.mark.parametrize("size", [(3, 3), (4, 5)])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
def test_factors_that_keep_or_double_an_axis(
    factor: float, size: tuple[int, int], mode: str
) -> None:
    # PyTorch decomposes them to other places than its own kernels take.
    check(
        lambda x: F.interpolate(x, scale_factor=factor, mode=mode),
        floats(1, 2, *size),
        decomposed=(False,),
    )


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "trilinear"])
def test_factors_that_keep_lines_and_volumes(mode: str) -> None:
    shapes = {"linear": [(1, 2, 4)], "trilinear": [(1, 2, 4, 3, 4)]}
    for shape in shapes.get(mode, [(1, 2, 4), (1, 2, 4, 3, 4)]):
        for factor in (1.2, 2.2):
            check(
                lambda x, factor=factor: F.interpolate(x, scale_factor=factor, mode=mode),
                floats(*shape),
                decomposed=(False,),
            )


@pytest.mark.parametrize("width", [64, 65])
def test_factors_of_large_planes(width: int) -> None:
    # PyTorch has another kernel where height and width sum to more than 128.
    function = torch.ops.aten.upsample_nearest2d.default
    check(
        lambda x: function(x, [64, width], 2.1, 1.1),
        floats(1, 2, 32, width),
        decomposed=(False,),
    )


def test_factors_not_above_zero() -> None:
    function = torch.ops.aten.upsample_bilinear2d.default
    check(lambda x: function(x, [6, 4], False, 0.0, -1.0), floats(1, 2, 3, 3), decomposed=(False,))


def test_other_dtypes() -> None:
    check(lambda x: F.interpolate(x, (3, 5), mode="bilinear"), floats(1, 1, 2, 3).double())
    check(lambda x: F.interpolate(x, (3, 5)), integers(1, 1, 2, 3).to(torch.uint8))


def test_symbolic_sizes() -> None:
    function: Callable[..., Any]
    for function in (
        lambda x: F.interpolate(x, scale_factor=2),
        lambda x: F.interpolate(x, (5, 7), mode="bilinear"),
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
    ):
        check(function, floats(2, 1, 3, 4), dynamic=[(0, 2, 3)], again=[[floats(3, 1, 5, 2)]])
