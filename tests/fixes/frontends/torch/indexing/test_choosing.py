"""Indices that count from the end choose the elements that PyTorch chooses."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.indexing.choosing import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")

DATA = floats(2, 3, 4)
PLACES = torch.tensor([-1, 0, -2, 1])

PROGRAMS: whole.Programs = {
    FIX.name: {
        "select": programs(lambda x: x[:, -1], DATA),
        "take": programs(torch.take, DATA, PLACES),
        "index": programs(lambda x, i: x[:, i], DATA, PLACES),
        "no dimensions": programs(
            lambda x, i: torch.gather(x, 0, i), torch.tensor(2.0), torch.tensor(0)
        ),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("index", [-1, -2, 0, 1])
def test_select(dim: int, index: int) -> None:
    check(lambda x: x.select(dim, index), DATA)


def test_the_last_of_a_symbolic_axis() -> None:
    check(
        lambda x: (x[:, -1], x[-1], x[:, -1:]),
        floats(2, 5, 4),
        dynamic=[(0, 1)],
        again=[[floats(3, 2, 4)], [floats(6, 9, 4)]],
    )


@pytest.mark.parametrize(
    "function",
    [
        torch.take,
        lambda x, i: x[:, i],
        lambda x, i: x[:, :, i],
        lambda x, i: x[:, i.reshape(2, 2), i.reshape(2, 2)],
        lambda x, i: x[i % 2, :, i],
        lambda x, i: x[:, i % 2, i.reshape(4, 1)],
        lambda x, i: x[i.clamp(-2, 1), i, i],
        lambda x, i: torch.index_select(x, 2, i % 4),
        lambda x, i: torch.gather(x, -1, (i % 4).expand(2, 3, 4)),
        lambda x, i: torch.gather(x, 1, (i % 3).expand(1, 1, 4)),
    ],
)
def test_indices_at_run_time(function: Callable[..., Any]) -> None:
    check(function, DATA, PLACES)
    check(function, DATA, PLACES, dynamic=[(0,), ()], again=[[floats(4, 3, 4), PLACES]])


def test_masks() -> None:
    check(lambda x: x[x > 0], DATA)
    check(lambda x, m: x[:, m], DATA, torch.tensor([True, False, True]))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: torch.index_select(x, 0, i),
        lambda x, i: torch.gather(x, 0, i),
        lambda x, i: torch.gather(x.reshape(1), 0, i.reshape([])),
    ],
)
def test_data_without_dimensions(function: Callable[..., Any]) -> None:
    check(function, torch.tensor(2.0), torch.tensor([0]))
