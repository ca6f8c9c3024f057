"""Attention with an extent of 0, or a number at the end of its range."""

import math
import re
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.lowerings.attention import attention
from tests.fixes import compiled, reference


def build(*shapes: Any, dtype: str = "float32", **kw: Any) -> Any:
    with fixes.install():
        program = compiled.module(
            lambda *tensors: relax.op.nn.attention(*tensors, **kw),
            *shapes,
            dtypes=(dtype,) * len(shapes),
        )
        return compiled.build(program)


@pytest.mark.parametrize("scale", [None, 1.0])
@pytest.mark.parametrize("dim", [0, "D"])
@pytest.mark.parametrize("installed", [True, False], ids=["installed", "map"])
def test_heads_without_a_dimension(dim: Any, scale: float | None, installed: bool) -> None:
    """Every score is 0 and the output is the mean of the values, as in PyTorch."""
    shapes = (2, 3, 2, dim), (2, 4, 2, dim), (2, 4, 2, 5)
    tensors = [compiled.sample(compiled.size(shape, {"D": 0})) for shape in shapes]
    with fixes.install() if installed else nullcontext():
        program = compiled.module(lambda *x: relax.op.nn.attention(*x, scale=scale), *shapes)
        program = relax.transform.LegalizeOps(fixes.legalize_map())(program)
        products = re.findall(r"for b, i, j, k in T.grid\((.*)\)", str(program))
        function = compiled.build(program)
    # Uninitialized memory may be 0 by chance, so check that no product is over an empty axis.
    assert len(products) == 2
    assert not any(extents.endswith(("T.int64(0)", " D")) for extents in products)
    mean = np.broadcast_to(tensors[2].mean(1, keepdims=True), (2, 3, 2, 5))
    np.testing.assert_allclose(function(*tensors), mean, rtol=0, atol=1e-6)


@pytest.mark.parametrize("key_heads", [0, 2])
def test_no_heads_when_run(key_heads: int) -> None:
    shapes = (1, 2, "H", 4), (1, 3, "G", 4), (1, 3, "G", 5), (1, "H", 2, 3)
    binding = {"H": 0, "G": key_heads}
    function = build(*shapes)
    out = function(*(compiled.sample(compiled.size(shape, binding)) for shape in shapes))
    assert out.shape == (1, 2, 0, 5)
    tensors = [compiled.sample(compiled.size(shape, {"H": 4, "G": 2})) for shape in shapes]
    np.testing.assert_allclose(function(*tensors), reference.attention(*tensors), atol=1e-6)


def test_no_query_heads() -> None:
    shapes = (1, 2, 0, 4), (1, 3, 2, 4), (1, 3, 2, 5), (1, 1, 2, 3)
    assert build(*shapes)(*map(compiled.sample, shapes)).shape == (1, 2, 0, 5)


def test_no_key_heads_are_refused(fixes_on: None) -> None:
    text = "relax.nn.attention cannot be lowered with key='(1, 3, 0, 4)', heads=0"
    with pytest.raises(tvm_api.OpNotImplemented, match=f"^{re.escape(text)}$"):
        compiled.module(relax.op.nn.attention, (1, 2, 0, 4), (1, 3, 0, 4), (1, 3, 0, 5))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [math.inf, math.nan])
def test_a_scale_that_is_not_finite_is_taken(scale: float, dtype: str) -> None:
    shapes = ((1, 2, 1, 4),) * 3
    # Scores above 0: an infinite scale turns them into infinities, whose difference is NaN.
    tensors = [abs(compiled.sample(shape, dtype, seed)) for seed, shape in enumerate(shapes)]
    assert np.isnan(build(*shapes, dtype=dtype, scale=scale)(*tensors)).all()


def test_a_score_below_the_lowest_bfloat16() -> None:
    # 181/128 has 8 bits; its square is above the largest such number below 2.
    query = np.full((1, 1, 1, 1), 181 / 128 * 2.0**63, ml_dtypes.bfloat16)
    key = np.full((1, 1, 1, 1), -181 / 128 * 2.0**64, ml_dtypes.bfloat16)
    product = float(query.item()) * float(key.item())
    assert float(np.finfo("float32").min) < product < float(ml_dtypes.finfo("bfloat16").min)
    value = np.full((1, 1, 1, 1), 3, ml_dtypes.bfloat16)
    out = build(*[(1, 1, 1, 1)] * 3, dtype="bfloat16", scale=1.0)(query, key, value)
    assert float(out.item()) == 3.0


def test_the_default_scale_is_rounded_once() -> None:
    """Two equal scores, one of them the bias, so large that one ulp of the scale shows."""
    big = 2.0**20
    for dim in range(2, 64):
        right = np.float32(1 / math.sqrt(dim))
        if right != np.float32(1) / np.sqrt(np.float32(dim)):
            break
    else:
        pytest.fail("no dimension whose scale is rounded otherwise in two steps")
    query, key = np.zeros((1, 1, 1, dim), "float32"), np.zeros((1, 2, 1, dim), "float32")
    query[..., 0], key[:, 0, :, 0] = big, 1
    value = np.array([0, 1], "float32").reshape(1, 2, 1, 1)
    bias = np.array([0, right * np.float32(big)], "float32").reshape(1, 1, 1, 2)
    function = build(query.shape, key.shape, value.shape, bias.shape)
    assert function(query, key, value, bias).item() == 0.5


def test_a_call_of_another_rank_is_refused_by_its_lowering() -> None:
    # Without its type: TVM's inference would refuse it first, in its own words.
    x = relax.Var("x", tvm_api.tensor_type((2, 4, 4), "float32"))
    call = relax.op.nn.attention(x, x, x)
    lower = fixes.legalize_map()["relax.nn.attention"]
    text = "relax.nn.attention is invalid with query='(2, 4, 4)': its rank is not 4"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        lower(relax.BlockBuilder(), call)


def test_a_scale_is_read_as_a_number_or_from_its_value() -> None:
    def call(scale: Any) -> Any:
        return SimpleNamespace(attrs=SimpleNamespace(scale=scale))

    assert attention.read_scale(call(None)) is None
    assert attention.read_scale(call(0.25)) == 0.25
    assert attention.read_scale(call(SimpleNamespace(value=0.5))) == 0.5
