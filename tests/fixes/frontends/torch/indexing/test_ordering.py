"""Sorting, searching and selecting of any dtype agree with PyTorch, also of NaN."""

from collections.abc import Iterator

import pytest
import torch

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.indexing.ordering import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")

NAN, INFINITY = float("nan"), float("inf")
SPECIAL = torch.tensor(
    [
        [3, NAN, 1, -2, INFINITY, 0.0, -0.0, -INFINITY, NAN, 1],
        [0, 1, -5, NAN, -1, 2, 2, 2, 3, 1],
    ]
)

PROGRAMS: whole.Programs = {
    FIX.name: {
        "NaN": programs(torch.sort, torch.tensor([NAN, 1, 2])),
        "bools": programs(lambda x: torch.argsort(x, stable=True), integers(7) > 0),
        "nonzero": programs(torch.nonzero, integers(2, 3)),
        "searching": programs(torch.searchsorted, torch.tensor([1.0, 2, 2, 4]), floats(3)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_sorting_of_special_values(dtype: torch.dtype) -> None:
    data = SPECIAL.to(dtype)
    check(lambda x: (x.sort(), x.sort(0, descending=True), x.argsort(1, descending=True)), data)
    check(lambda x: (x.topk(4)[0], x.topk(3, largest=False)[0]), data)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.int64])
def test_sorting_of_integers(dtype: torch.dtype) -> None:
    data = (integers(3, 7) > 0) if dtype is torch.bool else (integers(3, 7) * 60).to(dtype)
    check(lambda x: (x.sort(stable=True), torch.sort(x, dim=0, descending=True, stable=True)), data)


def test_several() -> None:
    check(lambda x: (x.kthvalue(3), x.kthvalue(1, 0, keepdim=True)), floats(4, 5))
    check(lambda x: (x.topk(3), x.topk(2, 0, largest=False), x[0, 0].topk(1)), floats(4, 5))
    check(lambda x: (x[0, 0].sort(), x.topk(0)), floats(4, 5))
    check(lambda x: (x.sort(1), x.topk(2)), floats(3, 4), dynamic=[(0, 1)], again=[[floats(2, 6)]])


def test_searching() -> None:
    lines, values = floats(3, 6).sort()[0], floats(3, 4) * 0.8
    values[0, 0] = lines[0, 2]
    check(
        lambda s, v: (torch.searchsorted(s, v), torch.searchsorted(s, v, right=True)), lines, values
    )
    check(lambda s, v: torch.searchsorted(s, v, side="right", out_int32=True), lines, values)
    check(
        lambda s, v: (torch.bucketize(v, s[0], right=True), torch.bucketize(v, s[0])), lines, values
    )
    check(lambda s: (torch.searchsorted(s, 1), torch.searchsorted(s, NAN)), lines[0])


def test_selecting() -> None:
    check(lambda x, m: x.masked_select(m), floats(2, 3, 4), floats(3, 1) > 0)
    check(lambda x: x.nonzero(), integers(3, 4))
    check(lambda x: torch.nonzero(x > 0), floats(2, 3, 4))
    check(lambda x: x.nonzero(), integers(3, 4), dynamic=[(0,)], again=[[integers(6, 4)]])
