"""Sign, IsInf and IsNaN: of NaN, of one sign of infinity, and of narrow dtypes."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.elementwise import special_values
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes

X = np.array([math.nan, math.inf, -math.inf, 0, -0.0, 1.5, -2])
DTYPES = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]


@pytest.fixture(autouse=True)
def alone(fixes_off: None) -> Iterator[None]:
    with installation.install([special_values.FIX]):
        yield


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
def test_signs_and_nan(dtype: Any) -> None:
    x = X.astype(dtype)
    computes("Sign", 13, [x], np.array([math.nan, 1, -1, 0, 0, 1, -1]).astype(dtype))
    computes("IsNaN", 20, [x], np.isnan(X))
    computes("IsNaN", 20, [x], np.isnan(X), symbolic={0: ("n",)})


def test_signs_of_integers() -> None:
    x = np.array([-5, 0, 7])
    computes("Sign", 9, [x], np.sign(x))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("positive", [None, 0, 1])
@pytest.mark.parametrize("negative", [None, 0, 1])
def test_infinities(positive: int | None, negative: int | None, dtype: Any) -> None:
    attributes = {"detect_positive": positive, "detect_negative": negative}
    chosen = {name: value for name, value in attributes.items() if value is not None}
    expected = ((positive != 0) & (math.inf == X)) | ((negative != 0) & (-math.inf == X))
    computes("IsInf", 20, [X.astype(dtype)], expected, **chosen)


PROGRAMS: whole.Programs = {
    "onnx_special_values": {
        "infinities": (
            partial(
                computes, "IsInf", 10, [np.array([math.inf])], np.array([False]), detect_positive=0
            ),
        ),
        "NaN": (partial(computes, "Sign", 9, [np.array([math.nan])], np.array([math.nan])),),
    }
}

CURES: whole.Cures = {
    "onnx-is-inf-of-one-sign": (("onnx_special_values", "infinities"),),
}
