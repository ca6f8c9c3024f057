"""RotaryEmbedding against its definition in complex numbers."""

import re
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.attention import rotary
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes, run

B, HEADS, LENGTH, FEATURES = 2, 3, 4, 6


@pytest.fixture(autouse=True)
def alone(fixes_off: None) -> Iterator[None]:
    with installation.install([rotary.FIX]):
        yield


def turned(x: Any, angles: Any, interleaved: int) -> Any:
    """``x`` (batch, heads, length, features) by ``angles`` (batch, length, pairs)."""
    pairs = angles.shape[2]
    first = slice(0, 2 * pairs, 2) if interleaved else slice(0, pairs)
    second = slice(1, 2 * pairs, 2) if interleaved else slice(pairs, 2 * pairs)
    result = x.astype("float64")
    number = (result[..., first] + 1j * result[..., second]) * np.exp(1j * angles[:, None])
    result[..., first], result[..., second] = number.real, number.imag
    return result


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("looked_up", [False, True])
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("dim", [0, 4])
def test_turns(dim: int, interleaved: int, looked_up: bool, packed: bool) -> None:
    x = compiled.sample((B, HEADS, LENGTH, FEATURES), "float32", seed=1)
    pairs = (dim or FEATURES) // 2
    table = compiled.sample((9, pairs), "float32", seed=2)
    places = np.arange(B * LENGTH).reshape(B, LENGTH)
    angles = table[places]
    expected = turned(x, angles, interleaved).astype("float32")
    source = table if looked_up else angles
    inputs = [x, np.cos(source), np.sin(source), *([places] if looked_up else [])]
    how: Any = {"interleaved": interleaved, "rotary_embedding_dim": dim}
    shapes: Any = {0: ("batch", HEADS, "length", FEATURES)}
    if looked_up:
        shapes[3] = ("batch", "length")
    else:
        shapes[1] = shapes[2] = ("batch", "length", pairs)
    if packed:
        inputs[0], expected = (
            each.transpose(0, 2, 1, 3).reshape(B, LENGTH, -1) for each in (x, expected)
        )
        how["num_heads"] = HEADS
        shapes[0] = ("batch", "length", HEADS * FEATURES)
    computes("RotaryEmbedding", 23, inputs, expected, tolerance=1e-5, **how)
    computes("RotaryEmbedding", 23, inputs, expected, tolerance=1e-5, symbolic=shapes, **how)


@pytest.mark.parametrize("places", [[2], [[2, 3, 4, 5], [0, 1, 7, 8]]])
@pytest.mark.parametrize("how", [{}, {"interleaved": 1}, {"num_heads": 3}])
@pytest.mark.parametrize("packed", [False, True])
def test_contributed(packed: bool, how: Any, places: Any) -> None:
    """com.microsoft's has the positions before the caches; a single one is that of the first."""
    x = compiled.sample((B, HEADS, LENGTH, FEATURES), "float32", seed=1)
    table = compiled.sample((9, FEATURES // 2), "float32", seed=2)
    numbers = np.array(places)
    rows = numbers if numbers.ndim == 2 else np.tile(numbers + np.arange(LENGTH), (B, 1))
    expected = turned(x, table[rows], how.get("interleaved", 0)).astype("float32")
    if packed:
        x, expected = (each.transpose(0, 2, 1, 3).reshape(B, LENGTH, -1) for each in (x, expected))
    inputs = [x, numbers, np.cos(table), np.sin(table)]
    dims = ("batch", "length", HEADS * FEATURES) if packed else ("batch", HEADS, "length", FEATURES)
    how = {"domain": "com.microsoft", "tolerance": 1e-5, **how}
    computes("RotaryEmbedding", 17, inputs, expected, **how)
    symbolic: Any = {0: dims} | ({1: ("batch", "length")} if numbers.ndim == 2 else {})
    computes("RotaryEmbedding", 17, inputs, expected, symbolic=symbolic, **how)


def test_contributed_of_packed_sequences() -> None:
    inputs = [np.ones((1, 1, 2), "f4"), np.array([0]), *[np.ones((1, 1), "f4")] * 2]
    message = "RotaryEmbedding cannot be lowered with is_packed_batching=1"
    with pytest.raises(Exception, match=re.escape(message)):
        run("RotaryEmbedding", 17, inputs, domain="com.microsoft", is_packed_batching=1)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["float16", "bfloat16"])
def test_halves(dtype: Any) -> None:
    x = compiled.sample((1, 1, 2, 4), "float32", seed=1).astype(dtype)
    angles = np.array([[[0.5, 1], [1.5, 2]]])
    inputs = [x, np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)]
    expected = turned(x, angles, 0).astype(dtype)
    computes("RotaryEmbedding", 23, inputs, expected, tolerance=2e-2)


@pytest.mark.parametrize("dim", [3, 8])
def test_parts_that_do_not_fit(dim: int) -> None:
    message = f"RotaryEmbedding is invalid with rotary_embedding_dim={dim}: it must be even"
    inputs = [np.ones((1, 1, 1, FEATURES), "float32"), *[np.ones((1, 1, 3), "float32")] * 2]
    with pytest.raises(ValueError, match=re.escape(message)):
        run("RotaryEmbedding", 23, inputs, rotary_embedding_dim=dim)


PROGRAMS: whole.Programs = {
    "onnx_rotary_embedding": {
        "RotaryEmbedding": (whole.upstream("onnx_rotary_embedding", "halves_and_pairs"),)
    }
}
