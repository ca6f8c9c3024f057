"""Views in shapes with symbolic sizes agree with PyTorch."""

from collections.abc import Iterator

import pytest
from torch import nn

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.movement.reshaping import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "symbols": programs(
            lambda x: x.view(x.shape[1], 1), floats(1, 3), dynamic=[(1,)], again=[[floats(1, 5)]]
        ),
        "no dimensions": programs(lambda x: x.squeeze(0) * 2, floats()),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def test_ranks_that_stay_and_change() -> None:
    for function in (
        lambda x: x.view(x.shape[1], x.shape[0]),
        lambda x: x.view(x.shape[0], x.shape[1]) + 1,
        lambda x: x.view(2, x.shape[0], -1),
        lambda x: x.reshape(-1),
        lambda x: x.reshape(x.shape[0] * 2, -1),
    ):
        check(function, floats(3, 4), dynamic=[(0,)], again=[[floats(5, 4)], [floats(2, 4)]])


@pytest.mark.parametrize("shape", [(2, 6), (4, 3), (-1, 2), (12,)])
def test_numbers(shape: tuple[int, ...]) -> None:
    check(lambda x: x.view(shape), floats(4, 3))


def test_normalization_of_each_instance_of_a_symbolic_batch() -> None:
    check(
        nn.InstanceNorm2d(2, affine=True).eval(),
        floats(3, 2, 4, 4),
        dynamic=[(0,)],
        again=[[floats(2, 2, 4, 4)]],
    )


def test_squeezes() -> None:
    check(lambda x: (x.squeeze(0) + 1, x.squeeze() + 1, x.squeeze((0,)) + 1), floats())
    check(lambda x: (x.squeeze(0) + 1, x.squeeze(1) + 1, x.squeeze((0, -1)) + 1), floats(1, 3))
