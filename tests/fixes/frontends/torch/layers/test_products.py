"""Products of matrices of any dtype agree with PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.products import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {
        "float64": programs(torch.mm, floats(2, 3).double(), floats(3, 2).double()),
        "integers": programs(torch.bmm, integers(1, 2, 3), integers(1, 3, 2)),
        "layers": programs(
            torch.nn.functional.linear, floats(2, 3).double(), floats(4, 3).double()
        ),
        "missing": programs(torch.addmv, floats(2), floats(2, 3), floats(3)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


DTYPES = [torch.float16, torch.float32, torch.float64, torch.int64, torch.int8]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: torch.dtype) -> None:
    x, y = integers(3, 4, dtype=dtype), integers(4, 3, dtype=dtype)
    check(lambda x, y: (x @ y, torch.mv(x, y[:, 0]), torch.dot(x[0], y[:, 0])), x, y)
    check(lambda x, y: torch.bmm(x[None], y[None]), x, y)
    check(lambda x, y: torch.outer(x[0], y[0]), x, y)
    check(torch.addmm, integers(3, 3, dtype=dtype), x, y)


@pytest.mark.parametrize("alpha", [0, 1, -2])
@pytest.mark.parametrize("beta", [0, 1, 3])
def test_factors(alpha: int, beta: int) -> None:
    x, y = floats(3, 4), floats(4, 3)
    function: Callable[..., Any]
    for function in (torch.addmm, torch.addbmm, torch.baddbmm):
        some, others = (x, y) if function is torch.addmm else (x[None], y[None])
        check(lambda a, b, f=function: f(a.sum(), a, b, alpha=alpha, beta=beta), some, others)


def test_what_does_not_count_may_be_infinite() -> None:
    infinite = torch.full((3, 3), float("inf"))
    check(lambda a, x, y: torch.addmm(a, x, y, beta=0), infinite, floats(3, 4), floats(4, 3))


def test_layers() -> None:
    check(torch.nn.Linear(4, 3).double(), floats(2, 5, 4).double())
    check(torch.nn.Linear(4, 3, bias=False), floats(4))
    check(torch.nn.Linear(4, 3), floats(2, 4), dynamic=[(0,)], again=[[floats(7, 4)]])


def test_bilinear() -> None:
    for bias in (True, False):
        check(torch.nn.Bilinear(4, 5, 3, bias=bias), floats(2, 4), floats(2, 5))
    layer = torch.nn.Bilinear(4, 5, 3).double()
    check(layer, floats(4).double(), floats(5).double())
    check(layer, floats(2, 3, 4).double(), floats(2, 3, 5).double())


def test_trilinear() -> None:
    x, y, z = floats(2, 3), floats(3, 4), floats(4)
    for summed in ([], [1], [0, 2], [0, 1, 2]):
        check(
            lambda x, y, z, s=summed: torch._trilinear(x, y, z, [2], [0], [0, 1], s),
            x,
            y,
            z,
        )
