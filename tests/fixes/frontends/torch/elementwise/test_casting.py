"""Casts and softmax have the dtype that a program names."""

from collections.abc import Iterator

import pytest
import torch
from torch.nn import functional

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.elementwise.casting import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

CONTIGUOUS = torch.contiguous_format

PROGRAMS: whole.Programs = {
    FIX.name: {
        "softmax": programs(lambda x: functional.softmax(x, 1, dtype=torch.float64), floats(2, 3)),
        "log_softmax": programs(
            lambda x: functional.log_softmax(x, 1, dtype=torch.float64), floats(2, 3)
        ),
        "casts": programs(lambda x: x.to(torch.int64, memory_format=CONTIGUOUS), floats(2, 3)),
        "filling": (lambda: check(lambda x: torch.fill(x, torch.tensor(2)), floats(3)),),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def test_softmax() -> None:
    for function in (functional.softmax, functional.log_softmax):
        check(
            lambda x, f=function: (f(x, 1, dtype=torch.float64), f(x, 0), f(x[0, 0], 0)),
            floats(2, 3),
        )
        check(lambda x, f=function: f(x, 1, dtype=torch.float32), integers(2, 3))
        check(lambda x, f=function: f(x, 1), floats(2, 300, dtype=torch.float16))


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float16])
def test_casts(dtype: torch.dtype) -> None:
    for data in (floats(2, 3).abs(), integers(2, 3).abs(), integers(2, 3) > 0):
        check(lambda x: (x.to(dtype, memory_format=CONTIGUOUS), x.type_as(x.to(dtype))), data)
        check(lambda x: (x.to(dtype, copy=True), x.to(x.to(dtype)), (x * 0.3).to(dtype)), data)


def test_copies_and_filling() -> None:
    check(lambda x: torch.ops.aten.copy.default(x, x[0].int()), floats(2, 3))
    check(lambda x: (torch.fill(x, 2.5), torch.fill(x, torch.tensor(7))), floats(2, 3))
    check(
        lambda x: torch.ops.aten.copy.default(x, x[:, :1] * 2),
        floats(2, 3),
        dynamic=[(0, 1)],
        again=[[floats(4, 5)]],
    )
