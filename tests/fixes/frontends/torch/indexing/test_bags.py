"""Bags of rows of a table agree with PyTorch."""

from collections.abc import Iterator

import pytest
import torch
from torch.nn.functional import embedding_bag

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.indexing.bags import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")

TABLE = floats(7, 3)
INDICES = torch.tensor([1, 2, 4, 6, 0, 3, 2, 2])
STARTS = torch.tensor([0, 3, 3, 5])

PROGRAMS: whole.Programs = {
    FIX.name: {"sums": programs(lambda w, i: embedding_bag(i, w), TABLE, INDICES.view(2, 4))}
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_modes(mode: str) -> None:
    check(lambda w, i, o: embedding_bag(i, w, o, mode=mode), TABLE, INDICES, STARTS)
    check(lambda w, i: embedding_bag(i, w, mode=mode), TABLE, INDICES.view(2, 4))
    for padding in (2, -1):
        check(
            lambda w, i, o, p=padding: embedding_bag(
                i, w, o, mode=mode, padding_idx=p, include_last_offset=True
            ),
            *(TABLE, INDICES, torch.tensor([0, 3, 3, 8])),
        )


def test_weights_and_dtypes() -> None:
    check(
        lambda w, i, o, s: embedding_bag(i, w, o, mode="sum", per_sample_weights=s),
        *(TABLE, INDICES, STARTS, floats(8)),
    )
    check(lambda w, i, o: embedding_bag(i, w, o), TABLE.half(), INDICES.int(), STARTS.int())


def test_symbolic_sizes() -> None:
    check(
        lambda w, i, o: embedding_bag(i, w, o),
        *(TABLE, INDICES, STARTS),
        dynamic=[(), (0,), (0,)],
        again=[[TABLE, INDICES[:5], STARTS[:3]]],
    )


def test_results_of_training_are_refused() -> None:
    with pytest.raises(tvm_api.OpNotImplemented, match="getitem_2"):
        check(lambda w, i, o: torch.embedding_bag(w, i, o)[2], TABLE, INDICES, STARTS)
