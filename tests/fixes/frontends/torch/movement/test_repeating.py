"""Tensors are repeated as often as symbolic sizes say."""

from collections.abc import Iterator

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.movement.repeating import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "symbols": programs(
            lambda x, y: x.repeat(y.shape[0], 2),
            floats(3),
            floats(4),
            dynamic=[(), (0,)],
            again=[[floats(3), floats(2)]],
        )
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def test_axes_that_are_there_and_new_axes() -> None:
    for function in (
        lambda x, y: x.repeat(1, y.shape[0]),
        lambda x, y: x.repeat(y.shape[0], 2, 3),
        lambda x, y: x.repeat(y.shape[0], y.shape[0] + 1),
        lambda x, y: torch.tile(x, (y.shape[0],)),
    ):
        check(function, floats(2, 3), floats(4), dynamic=[(), (0,)],
              again=[[floats(2, 3), floats(7)]])  # fmt: skip


def test_symbolic_axes() -> None:
    check(
        lambda x: x.repeat(x.shape[0], 2) * 2,
        floats(2, 3),
        dynamic=[(0, 1)],
        again=[[floats(5, 4)], [floats(3, 2)]],
    )


@pytest.mark.parametrize("counts", [(2, 1), (2, 3, 1), (0, 2)])
def test_numbers(counts: tuple[int, ...]) -> None:
    check(lambda x: x.repeat(*counts), floats(2, 3))
