"""Normalization with any arguments agrees with PyTorch."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
import tvm
from torch import nn
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.normalization import FIX
from relaxcheck.fixes.frontends.torch.probing import outputs_of
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, exported, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")


def layer(module: nn.Module, trains: bool) -> nn.Module:
    """``module`` with statistics that are not those of fresh ones."""
    for buffer in module.buffers():
        if buffer.is_floating_point():
            buffer.copy_(floats(*buffer.shape).abs() + 0.1)
    return module.train(trains)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "momentum": programs(layer(nn.BatchNorm1d(3), trains=False), floats(2, 3, 4)),
        "training": (partial(check, layer(nn.BatchNorm1d(3), trains=True), floats(2, 3, 4)),),
        "instances": programs(nn.InstanceNorm1d(3, eps=0.5), floats(2, 3, 4)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("tracks", [False, True])
def test_batches(trains: bool, affine: bool, tracks: bool) -> None:
    module = nn.BatchNorm2d(3, 0.03, 0.3, affine, tracks)
    check(layer(module, trains=trains), floats(2, 3, 4, 5))


def test_instances() -> None:
    check(nn.InstanceNorm2d(3, 0.1, affine=True), floats(2, 3, 4, 5))
    check(nn.InstanceNorm1d(3, 0.1), floats(2, 3, 5))
    tracking = layer(nn.InstanceNorm1d(3, 0.1, track_running_stats=True), trains=False)
    check(tracking, floats(2, 3, 5))


def test_layers_and_groups() -> None:
    check(nn.LayerNorm([3, 4], 0.1), floats(2, 3, 4))
    check(nn.LayerNorm(4, elementwise_affine=False), floats(2, 3, 4))
    check(nn.LayerNorm(4, bias=False), floats(2, 3, 4))
    check(nn.GroupNorm(2, 4, 0.1), floats(2, 4, 3))
    check(nn.GroupNorm(2, 4, affine=False), floats(2, 4, 3, 2))


@pytest.mark.parametrize("settings", [{}, {"bias": False}, {"elementwise_affine": False}])
def test_layers_of_bfloat16(settings: dict[str, bool]) -> None:
    module = nn.LayerNorm(4, dtype=torch.bfloat16, **settings)
    check(lambda x: module(x.bfloat16()).float(), floats(2, 3, 4))


@pytest.mark.parametrize("affine", [False, True])
def test_groups_of_bfloat16(affine: bool) -> None:
    module = nn.GroupNorm(2, 4, affine=affine, dtype=torch.bfloat16)
    check(lambda x: module(x.bfloat16()).float(), floats(2, 4, 3, 2))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.native_layer_norm(x, [4], None, None, 0.1),
        lambda x: torch.native_group_norm(x, None, None, 2, 6, 4, 3, 0.1),
        lambda x: torch.native_batch_norm(x, None, None, None, None, True, 0.1, 0.1),
    ],
)
def test_statistics(function: Callable[..., Any]) -> None:
    check(function, floats(2, 6, 4))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.native_layer_norm(x, [4], None, None, 0.1),
        lambda x: torch.native_group_norm(x, None, None, 2, 6, 4, 3, 0.1),
        lambda x: torch.native_batch_norm(x, None, None, None, None, True, 0.1, 0.1),
    ],
)
def test_statistics_have_the_dtype_of_pytorch(function: Callable[..., Any]) -> None:
    data = floats(2, 6, 4).bfloat16()
    module = from_exported_program(exported(function, [data]), run_ep_decomposition=False)
    executable = tvm.compile(module, "llvm")
    actual = outputs_of(executable, [data.float().numpy().astype(ml_dtypes.bfloat16)])
    for result, expected in zip(actual, function(data), strict=True):
        assert str(result.dtype) == str(expected.dtype).removeprefix("torch.")
        np.testing.assert_allclose(result.astype(np.float64), expected.double().numpy(), 0.02, 0.02)


def test_a_symbolic_batch() -> None:
    for module in (layer(nn.BatchNorm1d(3), trains=False), nn.GroupNorm(3, 3), nn.LayerNorm(4)):
        check(module, floats(4, 3, 4), dynamic=[(0,)], again=[[floats(2, 3, 4)]])
