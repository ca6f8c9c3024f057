"""Padding in all modes, of any axes and dtypes, agrees with PyTorch."""

from collections.abc import Iterator

import pytest
import torch
from torch.nn.functional import pad

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.padding import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

ATEN = torch.ops.aten

PROGRAMS: whole.Programs = {
    FIX.name: {
        "reflection": programs(lambda x: ATEN.reflection_pad1d.default(x, (1, 2)), floats(1, 2, 3)),
        "volumes": programs(
            lambda x: ATEN.replication_pad3d.default(x, [1] * 6), floats(1, 2, 2, 2, 3)
        ),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("pads", [(1, 2), (2, 1, 0, 2), (1, -1, 0, 2, -1, 1)])
def test_modes(mode: str, pads: tuple[int, ...]) -> None:
    rank = len(pads) // 2
    data = floats(1, 2, *(4, 5, 3)[:rank])
    check(lambda x: pad(x, pads, mode), data)
    if pads[-1] != -1:
        check(lambda x: pad(x[0], pads, mode), data)


def test_values_and_dtypes() -> None:
    for value in (None, 2.5, float("-inf")):
        check(lambda x, v=value: pad(x, (1, -1, 2, 0), value=v), floats(3, 4))
    for dtype in (torch.int32, torch.uint8, torch.bool, torch.float16, torch.float64):
        data = integers(3, 4).abs().to(dtype)
        check(lambda x: pad(x, (1, 2), value=3), data)
        check(lambda x: pad(x, (0, 0, 1, 2)), data)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_symbolic_sizes(mode: str) -> None:
    check(
        lambda x: pad(x, (1, 2, 0, 1), mode),
        floats(2, 3, 4, 5),
        dynamic=[(0, 2, 3)],
        again=[[floats(1, 3, 6, 4)]],
        decomposed=(False,),
    )
