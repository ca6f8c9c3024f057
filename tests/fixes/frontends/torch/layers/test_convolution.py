"""Convolutions of any dtype, padding and rank agree with PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.convolution import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "float64": programs(F.conv1d, floats(1, 2, 5).double(), floats(3, 2, 2).double()),
        "one sample": programs(F.conv1d, floats(2, 5), floats(3, 2, 2)),
        "volumes": programs(F.conv_transpose3d, floats(1, 2, 3, 2, 2), floats(2, 3, 2, 2, 1)),
        "output padding": programs(
            lambda x, w: F.conv_transpose1d(x, w, output_padding=1, dilation=2),
            *(floats(1, 2, 4), floats(2, 3, 2)),
        ),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def tensors(rank: int, transposed: bool = False, groups: int = 1) -> list[torch.Tensor]:
    channels = (4, 2 // groups) if transposed else (2, 4 // groups)
    return [floats(2, 4, *range(5, 5 + rank)), floats(*channels, *[3, 2, 1][:rank])]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"stride": 2, "padding": 1},
        {"padding": "same"},
        {"padding": "same", "dilation": 2},
        {"padding": "valid"},
        {"groups": 2},
    ],
)
def test_convolutions(rank: int, dtype: torch.dtype, settings: dict[str, Any]) -> None:
    function: Callable[..., Any] = getattr(F, f"conv{rank}d")
    data, weight = (each.to(dtype) for each in tensors(rank, groups=settings.get("groups", 1)))
    check(lambda x, w: function(x, w, w.sum((1, *range(2, rank + 2))), **settings), data, weight)
    check(lambda x, w: function(x[0], w, **settings), data, weight)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    "settings", [{}, {"stride": 2, "padding": 1, "output_padding": 1}, {"dilation": 2}]
)
def test_transposed(rank: int, settings: dict[str, Any]) -> None:
    function: Callable[..., Any] = getattr(F, f"conv_transpose{rank}d")
    check(lambda x, w: function(x, w, **settings), *tensors(rank, True))


@pytest.mark.parametrize("padding", [0, 1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_output_padding_up_to_the_dilation(padding: int, dtype: torch.dtype) -> None:
    settings = {"stride": (3, 2), "output_padding": (1, 3), "dilation": 4, "padding": padding}
    data, weight = (each.to(dtype) for each in tensors(2, True))
    check(lambda x, w: F.conv_transpose2d(x, w, w.sum((0, 2, 3)), **settings), data, weight)


def test_a_symbolic_batch_and_length() -> None:
    check(
        nn.Conv1d(2, 3, 3, padding=1),
        floats(2, 2, 6),
        dynamic=[(0, 2)],
        again=[[floats(3, 2, 9)]],
    )
