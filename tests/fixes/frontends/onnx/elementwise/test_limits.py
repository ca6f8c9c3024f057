"""Clip, Min, Max, Sum and Mean: limits of every kind, NaN, and broadcasting of symbols."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.elementwise import limits
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes

X = np.array([-math.inf, -3, -1, 0, 1, 3, math.inf, math.nan])
DTYPES = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
LARGEST = float(np.finfo(np.float32).max)


@pytest.fixture(autouse=True)
def alone(fixes_off: None) -> Iterator[None]:
    with installation.install([limits.FIX]):
        yield


def clipped(x: Any, least: Any, most: Any) -> Any:
    x = np.where(x < least, least, x)
    return np.where(x > most, most, x)


@pytest.mark.parametrize("held", [(), (1, 2)])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize(("least", "most"), [(-1, 2), (2, -1), (math.nan, 2), (-1, math.inf)])
def test_limits_that_are_inputs(
    least: float, most: float, dtype: Any, held: tuple[int, ...]
) -> None:
    x = X.astype(dtype)
    inputs = [x, np.array(least, dtype), np.array(most, dtype)]
    computes("Clip", 13, inputs, clipped(X, least, most).astype(dtype), held=held)


@pytest.mark.parametrize("opset", [11, 12, 13])
def test_limits_that_are_left_out(opset: int) -> None:
    x = X.astype("float32")
    computes("Clip", opset, [x], x)
    computes("Clip", opset, [x, np.float32(-1)], clipped(x, -1, math.inf))
    computes("Clip", opset, [x, None, np.float32(2)], clipped(x, -math.inf, np.float32(2)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_limits_that_are_attributes(dtype: str) -> None:
    x = X.astype(dtype)
    computes("Clip", 7, [x], clipped(X, -LARGEST, LARGEST).astype(dtype))
    computes("Clip", 7, [x], clipped(X, -1, LARGEST).astype(dtype), min=-1.0)
    computes("Clip", 10, [x], clipped(X, -1, 2.5).astype(dtype), min=-1.0, max=2.5)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_integers(dtype: str) -> None:
    x, least, most = np.arange(6).astype(dtype), np.array(1, dtype), np.array(3, dtype)
    computes("Clip", 13, [x, least, most], clipped(x, least, most))
    computes("Max", 13, [x, least], np.maximum(x, least))
    computes("Min", 13, [x, least, most], np.minimum(np.minimum(x, least), most))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("operator", ["Min", "Max", "Sum", "Mean"])
def test_any_number_of_inputs(operator: str, number: int, dtype: Any) -> None:
    shapes = [(2, 3), (3,), (2, 1)][:number]
    inputs = [
        np.array(range(1, 1 + math.prod(shape)), dtype).reshape(shape) * dtype(index + 1)
        for index, shape in enumerate(shapes)
    ]
    wide = np.broadcast_arrays(*(each.astype("float64") for each in inputs))
    reduce: Any = {"Min": np.min, "Max": np.max, "Sum": np.sum, "Mean": np.mean}[operator]
    expected = reduce(np.stack(wide), axis=0).astype(dtype)
    computes(operator, 13, inputs, expected, tolerance=1e-2 if inputs[0].itemsize == 2 else 1e-6)
    for held in (range(1, number), range(number)):
        computes(operator, 13, inputs, expected, held=held, tolerance=1e-2)


@pytest.mark.parametrize("operator", ["Min", "Max", "Sum", "Mean"])
def test_no_elements(operator: str) -> None:
    symbolic: Any = {0: ("rows", 2)}
    empty = np.zeros((0, 2), "float32")
    computes(operator, 13, [empty, np.ones(2, "float32")], empty, held=(1,), symbolic=symbolic)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("operator", ["Min", "Max"])
def test_nan_of_either_input(operator: str, dtype: Any) -> None:
    x = np.array([math.nan, 1, 2, math.nan, -math.inf]).astype(dtype)
    y = np.array([1, math.nan, 3, math.nan, math.nan]).astype(dtype)
    wanted = {"Min": 2, "Max": 3}[operator]
    expected = np.array([math.nan, math.nan, wanted, math.nan, math.nan]).astype(dtype)
    computes(operator, 13, [x, y], expected)


@pytest.mark.parametrize("operator", ["Min", "Max", "Sum", "Mean"])
def test_a_mean_of_large_halves(operator: str) -> None:
    x = np.full(2, 60000, "float16")
    wanted = math.inf if operator == "Sum" else 60000
    computes(operator, 13, [x, x], np.full(2, wanted, "float16"))


@pytest.mark.parametrize("operator", ["Min", "Max", "Sum", "Mean"])
def test_symbols_that_broadcast(operator: str) -> None:
    x = np.array([[1], [4]], "float32")
    shapes: Any = {0: ("rows", 1), 1: ("rows", 1)}
    computes(operator, 13, [x, x], x * (2 if operator == "Sum" else 1), symbolic=shapes)


def test_limits_of_one_element() -> None:
    """ONNX wants scalars, and ONNX Runtime takes vectors of one element as well."""
    x = np.array(5, "float32")
    computes("Clip", 13, [x, np.array([0], "float32"), np.array([2], "float32")], np.float32(2))


PROGRAMS: whole.Programs = {
    "onnx_limits": {
        "NaN in Clip": (
            partial(
                computes,
                *("Clip", 12, [np.array([math.nan]), np.array(0.0), np.array(1.0)]),
                np.array([math.nan]),
            ),
        ),
        "NaN in Max": (
            partial(
                computes,
                *("Max", 12, [np.array([math.nan]), np.array([0.0])]),
                np.array([math.nan]),
            ),
        ),
        "Clip without limits": (
            partial(
                computes, "Clip", 6, [np.array([1, 2], "float16")], np.array([1, 2], "float16")
            ),
        ),
    }
}

CURES: whole.Cures = {
    "onnx-clip-half-without-limits": (("onnx_limits", "Clip without limits"),),
}
