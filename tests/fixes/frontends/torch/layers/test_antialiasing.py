"""Interpolation with antialiasing agrees with PyTorch."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.antialiasing import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")


def resized(mode: str, **settings: Any) -> Any:
    return lambda x: functional.interpolate(x, mode=mode, antialias=True, **settings)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "linear": programs(resized("bilinear", size=(2, 2)), floats(1, 1, 5, 5)),
        "cubic": programs(resized("bicubic", size=(2, 3)), floats(1, 1, 5, 5)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize(
    "settings",
    [
        {"size": (3, 4)},
        {"size": (9, 20)},
        {"size": (3, 4), "align_corners": True},
        {"scale_factor": 0.4},
        {"scale_factor": (1.7, 0.3), "recompute_scale_factor": False},
    ],
)
def test_sizes(mode: str, settings: dict[str, Any]) -> None:
    check(resized(mode, **settings), floats(2, 3, 7, 11))


def test_other_dtypes() -> None:
    check(resized("bilinear", size=(3, 4)), floats(1, 2, 7, 6, dtype=torch.float64))
