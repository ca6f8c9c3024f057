"""The text of a large array whose elements repeat is short, and its value is the array."""

from typing import Any

import numpy as np
import pytest

from reports.python_source import array_text

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
    made = eval(text, {"np": np})
    assert made.tobytes() == array.tobytes()
    assert (made.dtype, made.shape) == (array.dtype, array.shape)
    assert text.startswith("np.repeat(") == short
