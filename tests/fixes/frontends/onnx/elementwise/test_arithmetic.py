"""Powers, remainders, shifts and comparisons, in all pairs of dtypes and of all numbers."""

import math
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx import probing
from relaxcheck.fixes.frontends.onnx.elementwise import arithmetic
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes, run

FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["int32", "int64"]
EXPONENTS = [*FLOATS, *INTEGERS, "uint8", "int16"]


@pytest.fixture(autouse=True)
def alone(fixes_off: None) -> Iterator[None]:
    with installation.install([arithmetic.FIX]):
        yield


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("base", [*FLOATS, *INTEGERS])
def test_powers_have_the_dtype_of_the_base(base: str, exponent: str) -> None:
    x, y = np.array([[2], [-3], [0], [1]]), np.array([0, 1, 2, 3, 5])
    expected = (x.astype("float64") ** y).astype(base)
    computes("Pow", 15, [x.astype(base), y.astype(exponent)], expected, tolerance=1e-5)


def test_large_exponents_keep_their_last_bit() -> None:
    base = np.array([-1, -1], "float32")
    computes("Pow", 15, [base, np.array([2**24, 2**24 + 1])], np.array([1, -1], "float32"))


def test_powers_of_bfloat16() -> None:
    x = np.array([2, -3, 0.5]).astype(ml_dtypes.bfloat16)
    computes("Pow", 13, [x, np.array(3)], (x.astype("float64") ** 3).astype(x.dtype))


def test_powers_of_integers_are_exact() -> None:
    base = np.array([3, -3, 2, 7, -1, -1, 1, 0])
    exponent = np.array([39, 39, 62, 22, 101, 1000, -5, 70])
    computes("Pow", 15, [base, exponent], np.array([3**39, -(3**39), 2**62, 7**22, -1, 1, 1, 0]))
    computes("Pow", 15, [np.array([2, -1, 3]), np.array([-1, -3, -2])], np.array([0, -1, 0]))


@pytest.mark.parametrize("shape", [(), (2,)])
def test_powers_of_a_constant_overflow(shape: tuple[int, ...]) -> None:
    base, exponent = np.array(-(2**31), "int32"), np.full(shape, 3, "int8")
    for held in (("base",), ("base", "exponent")):
        inputs = {"base": base, "exponent": exponent}
        model = probing.node_model("Pow", inputs, 15, held=held)
        (power,) = probing.outputs(model, *[inputs[name] for name in inputs if name not in held])
        np.testing.assert_array_equal(power, np.zeros(shape, "int32"), strict=True)


def test_powers_of_integers_to_fractions() -> None:
    computes("Pow", 15, [np.array([4, 9, 2]), np.array([0.5, 1.5, 0.5])], np.array([2, 27, 1]))


@pytest.mark.parametrize("dtype", [*FLOATS, "bfloat16"])
def test_remainders(dtype: str) -> None:
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    x = np.array([5.5, -5.5, 5.5, -5.5, 4, -4, 1, -1, math.nan, math.inf]).astype(kind)
    y = np.array([2, 2, -2, -2, 2, 2, math.inf, math.inf, 1, 1]).astype(kind)
    fmod = [math.fmod(a, b) for a, b in zip(x[:-1].tolist(), y[:-1].tolist(), strict=True)]
    computes("Mod", 13, [x, y], np.array([*fmod, math.nan]).astype(kind), fmod=1)
    floor = np.array([1.5, 0.5, -0.5, -1.5, 0, 0, 1, math.inf, math.nan, math.nan]).astype(kind)
    computes("Mod", 28, [x, y], floor)


def test_remainders_of_integers() -> None:
    x, y = np.array([7, -7, 7, -7], "int16"), np.array([3, 3, -3, -3], "int16")
    computes("Mod", 13, [x, y], np.array([1, 2, -2, -1], "int16"))
    computes("Mod", 13, [x, y], np.array([1, -1, 1, -1], "int16"), fmod=1)


@pytest.mark.parametrize(
    ("dtype", "direction", "expected"),
    [
        ("uint8", "LEFT", [10, 0, 160, 0, 254]),
        ("uint8", "RIGHT", [2, 0, 0, 0, 127]),
        ("uint64", "LEFT", [10, 1280, 160, 5 << 40, 510]),
        ("int32", "LEFT", [10, 1280, 160, 0, -2]),
        ("int32", "RIGHT", [2, 0, 0, 0, -1]),
    ],
)
def test_shifts(dtype: str, direction: str, expected: list[int]) -> None:
    last = -1 if dtype == "int32" else 255
    x, by = np.array([5, 5, 5, 5, last], dtype), np.array([1, 8, 5, 40, 1], dtype)
    computes("BitShift", 28, [x, by], np.array(expected, dtype), direction=direction)


def test_shifts_by_negative_numbers_and_by_all_bits() -> None:
    x, by = np.array([[5], [-5]], "int64"), np.array([-1, 64, 63], "int64")
    computes("BitShift", 28, [x, by], np.array([[0, 0, 0], [-1, -1, -1]]), direction="RIGHT")
    left = np.array([[0, 0, -(2**63)], [0, 0, -(2**63)]])
    computes("BitShift", 28, [x, by], left, direction="LEFT")


def test_a_direction_that_there_is_not() -> None:
    message = "BitShift is invalid with direction='UP': it must be LEFT or RIGHT"
    with pytest.raises(ValueError, match=re.escape(message)):
        run("BitShift", 11, [np.array([1], "uint8")] * 2, direction="UP")


@pytest.mark.parametrize("opset", [7, 11, 19])
def test_truth_values(opset: int) -> None:
    x, y = np.array([[True], [False]]), np.array([True, False])
    computes("Equal", opset, [x, y], x == y)
    computes("Equal", opset, [np.arange(3), np.array([0, 2, 2])], np.array([True, False, True]))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_division_by_a_constant_of_zero(shape: tuple[int, ...], dtype: str) -> None:
    zero = np.zeros(shape, dtype)
    for x in (np.array([1, -1, 0], dtype), np.array(-2, dtype)):
        with np.errstate(all="ignore"):
            expected = x / zero
        computes("Div", 14, [x, zero], expected, held=(1,))
    computes("Reciprocal", 13, [zero], np.full(shape, math.inf, dtype), held=(0,))
    computes("Reciprocal", 13, [-zero], np.full(shape, -math.inf, dtype), held=(0,))
    computes(
        "Div",
        14,
        [np.array([4], dtype), zero + np.ones(shape, dtype)],
        np.full(shape or (1,), 4, dtype),
        held=(1,),
    )


def test_symbolic_sizes() -> None:
    x, y = np.array([[2], [3]]), np.array([[2, 3]])
    shapes: Any = {0: ("rows", 1), 1: (1, "columns")}
    computes("Pow", 15, [x, y], x**y, symbolic=shapes)
    truth = [x > 2, y > 2]
    computes("Equal", 19, truth, truth[0] == truth[1], symbolic=shapes)


PROGRAMS: whole.Programs = {
    "onnx_arithmetic": {
        "powers": (
            partial(computes, "Pow", 12, [np.array([2.5]), np.array([2])], np.array([6.25])),
            partial(computes, "Pow", 12, [np.array([5]), np.array([2])], np.array([25])),
        ),
        "shifts": (
            partial(
                computes,
                *("BitShift", 28, [np.array([1], "int64"), np.array([64])]),
                np.array([0], "int64"),
                direction="LEFT",
            ),
        ),
        "zeros": (whole.upstream("onnx_arithmetic", "zeros"),),
        "truth values": (
            partial(computes, "Equal", 13, [np.array([True]), np.array([True])], np.array([True])),
        ),
    }
}

CURES: whole.Cures = {
    "onnx-equal-bools": (("onnx_arithmetic", "truth values"),),
    "onnx-pow-by-an-integer": (("onnx_arithmetic", "powers"),),
}
