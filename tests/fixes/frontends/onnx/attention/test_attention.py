"""Attention of ONNX's own domain, against its definition in NumPy."""

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.attention import attention
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes, run

B, HEADS, QUERIES, KEYS, FEATURES, VALUES = 2, 2, 3, 5, 4, 6


@pytest.fixture(autouse=True)
def alone(fixes_off: None) -> Iterator[None]:
    with installation.install([attention.FIX]):
        yield


def operands(heads: int = HEADS, dtype: str = "float32", queries: int = QUERIES) -> list[Any]:
    shapes = [(B, heads, queries, FEATURES), (B, HEADS, KEYS, FEATURES), (B, HEADS, KEYS, VALUES)]
    return [compiled.sample(shape, dtype, seed=seed) for seed, shape in enumerate(shapes)]


def attended(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = 0.0,
    scale: float | None = None,
    softcap: float = 0.0,
) -> list[Any]:
    """Y, scores, capped scores, scores with ``bias``, and probabilities; 0 of no keys."""
    query, key, value = (each.astype("float64") for each in (query, key, value))
    groups = query.shape[1] // key.shape[1]
    key, value = (np.repeat(each, groups, axis=1) for each in (key, value))
    scale = 1 / math.sqrt(query.shape[3]) if scale is None else scale
    scores = query @ key.swapaxes(2, 3) * scale
    capped = softcap * np.tanh(scores / softcap) if softcap else scores
    biased = capped + bias
    largest = biased.max(axis=3, keepdims=True)
    powers = np.exp(biased - np.where(np.isneginf(largest), 0, largest))
    total = powers.sum(axis=3, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    return [weights @ value, scores, capped, biased, weights]


def bias_of(allowed: Any) -> Any:
    return np.where(allowed, 0.0, -np.inf)


def joined(x: Any) -> Any:
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


TOLERANCES = {"float16": 5e-3, "float32": 1e-5, "float64": 1e-12}


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("heads", [2, 4, 6])
def test_heads_and_dtypes(heads: int, dtype: str) -> None:
    inputs = operands(heads, dtype)
    expected = attended(*inputs)[0].astype(dtype)
    computes("Attention", 23, inputs, expected, tolerance=TOLERANCES[dtype])
    packed = [joined(each) for each in inputs]
    how = {"q_num_heads": heads, "kv_num_heads": HEADS}
    computes("Attention", 23, packed, joined(expected), tolerance=TOLERANCES[dtype], **how)


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_outputs_and_attributes(mode: int) -> None:
    query, key, value = operands(4)
    mask = compiled.sample((QUERIES, KEYS), "float32", seed=9)
    y, *scores = attended(query, key, value, mask, scale=0.7, softcap=2.0)
    outputs = [each.astype("float32") for each in (y, key, value, scores[mode])]
    how: Any = {"scale": 0.7, "softcap": 2.0, "qk_matmul_output_mode": mode}
    computes("Attention", 23, [query, key, value, mask], *outputs, tolerance=1e-5, **how)


@pytest.mark.parametrize(
    "shape", [(QUERIES, KEYS), (1, KEYS), (B, 1, QUERIES, KEYS), (HEADS, QUERIES, KEYS)]
)
@pytest.mark.parametrize("kind", ["bool", "float32"])
def test_masks(kind: str, shape: tuple[int, ...]) -> None:
    inputs = operands()
    numbers = compiled.sample(shape, "float32", seed=5)
    mask = numbers > 0 if kind == "bool" else numbers
    mask[..., 0] = True if kind == "bool" else -np.inf
    expected = attended(*inputs, bias_of(mask) if kind == "bool" else mask)[0]
    computes("Attention", 23, [*inputs, mask], expected.astype("float32"), tolerance=1e-5)


@pytest.mark.parametrize("kind", ["bool", "float32"])
def test_a_mask_that_ends_before_the_keys(kind: str) -> None:
    inputs = operands()
    mask = np.ones((QUERIES, 3), kind)
    bias = bias_of(np.arange(KEYS) < 3) + (1.0 if kind == "float32" else 0.0)
    expected = attended(*inputs, bias)[0].astype("float32")
    computes("Attention", 24, [*inputs, mask], expected, tolerance=1e-5)


def test_queries_without_keys() -> None:
    query, key, value = operands()
    key[0, 0, 1] = np.inf
    mask = np.ones((QUERIES, KEYS), bool)
    mask[1], mask[:, 1] = False, False
    y, key_out, value_out, weights = run(
        "Attention", 23, [query, key, value, mask], outputs=4, qk_matmul_output_mode=3
    )
    assert not y[:, :, 1].any()
    assert not weights[:, :, 1].any()
    assert np.isfinite(weights).all()
    np.testing.assert_array_equal(key_out, key)
    np.testing.assert_array_equal(value_out, value)


@pytest.mark.parametrize("queries", [1, 3, 5, 7])
def test_causality(queries: int) -> None:
    inputs = operands(queries=queries)
    expected = attended(*inputs, bias_of(np.tri(queries, KEYS)))[0].astype("float32")
    computes("Attention", 23, inputs, expected, is_causal=1, tolerance=1e-5)


def test_no_batch() -> None:
    query, key, value = (joined(each)[:0] for each in operands(4))
    expected = np.zeros((0, QUERIES, 4 * VALUES), "float32")
    how: Any = {"held": (0, 1, 2), "q_num_heads": 4, "kv_num_heads": HEADS}
    computes("Attention", 23, [query, key, value], expected, **how)


@pytest.mark.parametrize("past", [1, 4])
def test_a_past(past: int) -> None:
    query, key, value = operands(4)
    past_key = compiled.sample((B, HEADS, past, FEATURES), "float32", seed=7)
    past_value = compiled.sample((B, HEADS, past, VALUES), "float32", seed=8)
    keys, values = (np.concatenate(pair, axis=2) for pair in ((past_key, key), (past_value, value)))
    bias = bias_of(np.tri(QUERIES, KEYS + past, past))
    y = attended(query, keys, values, bias)[0].astype("float32")
    inputs = [query, key, value, None, past_key, past_value]
    computes("Attention", 24, inputs, y, keys, values, is_causal=1, tolerance=1e-5)


@pytest.mark.parametrize("causal", [0, 1])
def test_numbers_of_valid_keys(causal: int) -> None:
    inputs = operands()
    valid = np.array([4, 2])
    keys = np.arange(KEYS)
    allowed = (keys < valid[:, None])[:, None, None]
    if causal:
        places = np.arange(QUERIES)[:, None] + (valid - QUERIES)[:, None, None]
        allowed = allowed & (keys <= places)[:, None]
    y = attended(*inputs, bias_of(allowed))[0].astype("float32")
    computes(
        "Attention", 24, [*inputs, None, None, None, valid], y, is_causal=causal, tolerance=1e-5
    )


@pytest.mark.parametrize(("left", "right"), [(1, 0), (0, -1), (-1, 1), (2, 1)])
def test_windows(left: int, right: int) -> None:
    inputs = operands()
    distance = np.arange(QUERIES)[:, None] - np.arange(KEYS)
    allowed = np.ones_like(distance, bool)
    if left >= 0:
        allowed &= distance <= left
    if right >= 0:
        allowed &= -distance <= right
    y = attended(*inputs, bias_of(allowed))[0].astype("float32")
    how = {"left_window_size": left, "right_window_size": right}
    computes("Attention", 25, inputs, y, tolerance=1e-5, **how)


@pytest.mark.parametrize("causal", [0, 1])
def test_symbolic_sizes(causal: int) -> None:
    query, key, value = operands(4)
    past_key, past_value = (
        compiled.sample((B, HEADS, 2, size), "float32", seed=7) for size in (FEATURES, VALUES)
    )
    mask = compiled.sample((B, 1, QUERIES, KEYS + 2), "float32", seed=3) > -0.5
    shapes: Any = {
        0: ("batch", 4, "queries", FEATURES),
        1: ("batch", HEADS, "keys", FEATURES),
        2: ("batch", HEADS, "keys", VALUES),
        3: ("batch", 1, "queries", "total"),
        4: ("batch", HEADS, "past", FEATURES),
        5: ("batch", HEADS, "past", VALUES),
    }
    keys, values = (np.concatenate(pair, axis=2) for pair in ((past_key, key), (past_value, value)))
    allowed = mask & (np.tri(QUERIES, KEYS + 2, 2) > 0) if causal else mask
    y = attended(query, keys, values, bias_of(allowed))[0].astype("float32")
    inputs = [query, key, value, mask, past_key, past_value]
    how: Any = {"is_causal": causal, "symbolic": shapes}
    computes("Attention", 23, inputs, y, keys, values, tolerance=1e-5, **how)


def test_a_precision_of_the_softmax() -> None:
    inputs = operands(dtype="float16")
    expected = attended(*inputs)[0].astype("float16")
    for precision in (1, 10, 11, 16):
        computes("Attention", 23, inputs, expected, softmax_precision=precision, tolerance=2e-2)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"qk_matmul_output_mode": 4}, "qk_matmul_output_mode=4: it must be 0, 1, 2 or 3"),
        ({"left_window_size": -2}, "left_window_size=-2: it must be -1 or more"),
    ],
)
def test_invalid_attributes(attributes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"Attention is invalid with {message}")):
        run("Attention", 25, operands(), **attributes)


def test_heads_that_do_not_fit() -> None:
    query, key, value = operands(3)
    with pytest.raises(ValueError, match="Attention is invalid with heads='3': there are 2 heads"):
        run("Attention", 23, [query, key, value])
    packed = [joined(each) for each in (query, key, value)]
    message = "Attention is invalid with q_num_heads=5: it must divide the hidden size, 12"
    with pytest.raises(ValueError, match=message):
        run("Attention", 23, packed, q_num_heads=5, kv_num_heads=2)


PROGRAMS: whole.Programs = {
    "onnx_attention": {
        "domain": (whole.upstream("onnx_attention", "masks"),),
        "past": (whole.upstream("onnx_attention", "past"),),
    }
}

CURES: whole.Cures = {
    "onnx-attention-of-opset-23": (("onnx_attention", "domain"),),
}
