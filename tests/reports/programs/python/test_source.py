"""The text of a large array whose elements repeat is short, and its value is the array."""

import base64
import zlib
from typing import Any

import numpy as np
import pytest

from relaxcheck.reports.programs.python.source import array_text

NAMES = {"np": np, "zlib": zlib, "base64": base64}
HALVES = np.arange(6, dtype="float32").reshape(2, 3) / 2


@pytest.mark.parametrize(
    ("array", "short"),
    [
        (np.repeat(HALVES, 64, axis=-1), True),
        (np.repeat(HALVES, 2, axis=-1), False),  # small: written out
        (np.repeat(HALVES.reshape(2, 1, 3), 100, axis=1), False),  # along another axis
        (np.repeat(np.arange(4), 2048), True),
        (np.where(np.arange(512) < 256, 0.0, -0.0), True),
        (np.arange(509.0), False),
    ],
)
def test_a_repeated_array_is_written_short(array: Any, short: bool) -> None:
    text = array_text(array)
    made = eval(text, NAMES)
    assert made.tobytes() == array.tobytes()
    assert (made.dtype, made.shape) == (array.dtype, array.shape)
    assert text.startswith("np.repeat(") == short


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "bool"])
def test_a_large_array_is_packed_where_that_is_far_shorter(dtype: str) -> None:
    period = np.tile(np.array([0.3, 7, 0, 5, 1.1]).astype(dtype), 90)[:-1].reshape(1, -1)
    text = array_text(period)
    assert len(text) < 400
    made = eval(text, NAMES)
    assert made.tobytes() == period.tobytes()
    assert (made.dtype, made.shape) == (period.dtype, period.shape)
    # Whoever gets it may write to it.
    made[0, 0] = 1
    small = array_text(period[:, :200])
    assert small.startswith("np.array(")
