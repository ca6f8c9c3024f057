"""Attention in programs that are not decomposed agrees with PyTorch."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.nn import functional as F
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.attention import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, exported, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")

QUERY, KEY = floats(2, 4, 3, 8), floats(2, 4, 5, 8) * 1.5
FEW = KEY[:, :2].contiguous()
MASK = torch.tensor([[1, 1, 0, 1, 1], [0, 0, 0, 0, 0], [0, 1, 0, 0, 1]]) > 0
BIAS = torch.where(MASK, floats(3, 5), -torch.inf)


def attention(**keywords: Any) -> Any:
    return lambda q, k, *mask: F.scaled_dot_product_attention(q, k, k * 2, *mask, **keywords)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "scale": programs(attention(scale=0.125), QUERY, KEY),
        "groups": programs(attention(enable_gqa=True), QUERY, FEW),
        "masks": programs(attention(), QUERY, KEY, MASK),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def run(function: Any, *inputs: torch.Tensor, **symbolic: Any) -> None:
    check(function, *inputs, decomposed=(False,), **symbolic)


@pytest.mark.parametrize("keywords", [{"scale": 0.3}, {"is_causal": True, "scale": 2.0}])
def test_ranks(keywords: dict[str, Any]) -> None:
    for lead in ((), (3,), (2, 4), (2, 1, 3)):
        run(attention(**keywords), floats(*lead, 3, 8), floats(*lead, 5, 8))


@pytest.mark.parametrize("mask", [MASK, BIAS, MASK.expand(2, 1, 3, 5), BIAS.expand(4, 3, 5)])
def test_masks(mask: torch.Tensor) -> None:
    run(attention(scale=0.5), QUERY, KEY, mask.contiguous())


def test_masks_of_other_ranks() -> None:
    run(attention(), floats(3, 8), floats(5, 8), BIAS)
    run(attention(), floats(2, 3, 8), floats(2, 5, 8), MASK)
    run(attention(), floats(2, 2, 1, 3, 8), floats(2, 2, 1, 5, 8), MASK)
    run(attention(), floats(2, 3, 8), floats(2, 5, 8), BIAS.expand(2, 3, 5).contiguous())


def test_batches_that_broadcast() -> None:
    run(attention(is_causal=True), QUERY, KEY[:1].contiguous())


def test_batches_and_heads_of_nothing() -> None:
    run(attention(is_causal=True), floats(0, 3, 8), floats(0, 5, 8))
    run(attention(), floats(2, 0, 3, 8), floats(2, 0, 5, 8))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_dtypes(dtype: torch.dtype) -> None:
    query, key = QUERY.to(dtype), KEY.to(dtype)
    run(attention(), query, key, BIAS.to(dtype))
    run(attention(scale=0.5), query[None], key[None])


def test_symbolic_sizes() -> None:
    run(
        attention(scale=0.5, is_causal=True), QUERY, KEY,
        dynamic=[(0, 2), (0, 2)], again=[[floats(3, 4, 6, 8), floats(3, 4, 2, 8)]],
    )  # fmt: skip


def test_groups() -> None:
    run(attention(enable_gqa=True, scale=0.4), QUERY, FEW, MASK)


def test_dropout_is_refused() -> None:
    program = exported(attention(dropout_p=0.5), (QUERY, KEY))
    with pytest.raises(Exception, match=r"cannot be lowered with dropout_p=0\.5"):
        from_exported_program(program, run_ep_decomposition=False)
