"""Activations in every dtype, of every attribute, and of NaN."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.elementwise import activations
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes, run

X = np.array([-100, -2.5, -0.75, -0.0, 0.0, 0.25, 0.75, 1.5, 3, 100, math.inf, math.nan])
DTYPES = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
TOLERANCES = {2: 1e-2, 4: 1e-5, 8: 1e-7}
"""By the size of an element. ONNX's attributes are float32, also where the operator is float64."""

Formula = Callable[[Any], Any]


def clipped(x: Any) -> Any:
    return np.where(x < 0, 0, np.where(x > 1, 1, x))


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def gelu(x: Any) -> Any:
    return x * np.array([1 + math.erf(each / math.sqrt(2)) for each in x]) / 2


FORMULAS: list[tuple[str, int, dict[str, float], Formula]] = [
    ("Relu", 14, {}, lambda x: np.where(x < 0, 0, x)),
    ("Elu", 22, {}, lambda x: np.where(x < 0, np.expm1(x), x)),
    ("Elu", 7, {"alpha": 2.0}, lambda x: np.where(x < 0, 2 * np.expm1(x), x)),
    ("Celu", 12, {"alpha": 0.5}, lambda x: np.where(x < 0, np.expm1(2 * x) / 2, x)),
    ("Celu", 28, {}, lambda x: np.where(x < 0, np.expm1(x), x)),
    ("Selu", 22, {"alpha": 2.0, "gamma": 3.0}, lambda x: 3 * np.where(x < 0, 2 * np.expm1(x), x)),
    (
        "Selu",
        7,
        {},
        lambda x: 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(x), x),
    ),
    ("ThresholdedRelu", 10, {}, lambda x: np.where(x > 1, x, 0)),
    ("ThresholdedRelu", 22, {"alpha": -1.0}, lambda x: np.where(x > -1, x, 0)),
    ("HardSigmoid", 22, {}, lambda x: clipped(0.2 * x + 0.5)),
    ("HardSigmoid", 7, {"alpha": 0.5, "beta": 0.25}, lambda x: clipped(0.5 * x + 0.25)),
    ("HardSwish", 22, {}, lambda x: x * clipped(x / 6 + 0.5)),
    ("Mish", 22, {}, lambda x: x * np.tanh(softplus(x))),
    ("Softplus", 22, {}, softplus),
    ("Softsign", 22, {}, lambda x: x / (1 + np.abs(x))),
    ("Swish", 24, {"alpha": 0.5}, lambda x: x * logistic(x / 2)),
    ("LeakyRelu", 16, {}, lambda x: np.where(x < 0, 0.01 * x, x)),
    ("LeakyRelu", 7, {"alpha": -0.5}, lambda x: np.where(x < 0, -0.5 * x, x)),
    ("Gelu", 20, {}, gelu),
    ("Shrink", 9, {"lambd": 0.5, "bias": 0.25}, lambda x: shrunk(x, 0.5, 0.25)),
    ("Shrink", 9, {"lambd": -1.0, "bias": 0.25}, lambda x: shrunk(x, -1.0, 0.25)),
    ("Shrink", 9, {}, lambda x: shrunk(x, 0.5, 0.0)),
]


def shrunk(x: Any, lambd: float, bias: float) -> Any:
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0))


@pytest.fixture(autouse=True)
def alone(fixes_off: None) -> Iterator[None]:
    with installation.install([activations.FIX]):
        yield


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize(
    ("operator", "opset", "attributes", "formula"),
    FORMULAS,
    ids=[f"{operator}-{opset}-{attributes}" for operator, opset, attributes, _ in FORMULAS],
)
def test_formulas(
    operator: str, opset: int, attributes: dict[str, float], formula: Formula, dtype: Any
) -> None:
    x = X.astype(dtype)
    with np.errstate(all="ignore"):
        expected = np.asarray(formula(x.astype("float64"))).astype(dtype)
    computes(operator, opset, [x], expected, tolerance=TOLERANCES[x.itemsize], **attributes)


def test_integers_are_compared_with_attributes_as_numbers() -> None:
    x = np.array([-3, -2, 0, 1, 2, 3])
    for dtype in ("int8", "int32", "int64"):
        expected = np.array([-1, 0, 0, 0, 0, 1], dtype)
        computes("Shrink", 9, [x.astype(dtype)], expected, lambd=1.5, bias=1.75)
    unsigned = np.abs(x).astype("uint8")
    computes("Shrink", 9, [unsigned], np.array([1, 0, 0, 0, 0, 1], "uint8"), lambd=1.5, bias=1.75)
    computes("Erf", 9, [x], np.trunc([math.erf(each) for each in x]).astype(int))
    computes("Relu", 14, [x], np.maximum(x, 0))


@pytest.mark.parametrize("dtype", [*DTYPES, np.int32, np.uint64], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize(
    ("shape", "slope"), [((2, 3), (3,)), ((2, 3), (2, 1)), ((2, 3), ()), ((), ()), ((0, 3), (1,))]
)
def test_slopes(shape: tuple[int, ...], slope: tuple[int, ...], dtype: Any) -> None:
    unsigned = np.dtype(dtype).kind == "u"
    x = np.arange(math.prod(shape)).reshape(shape).astype(dtype) - dtype(0 if unsigned else 3)
    slopes = (np.arange(math.prod(slope)).reshape(slope) + 2).astype(dtype)
    expected = np.where(x < dtype(0), (x * slopes).astype(dtype), x)
    computes("PRelu", 16, [x, slopes], expected)


@pytest.mark.parametrize(
    ("shape", "slope"), [((2, 3, 4, 5), 3), ((2, 3, 3), 3), ((2, 3), 3), ((3,), 3), ((2, 3, 4), 1)]
)
@pytest.mark.parametrize("opset", [1, 6])
def test_slopes_of_channels(opset: int, shape: tuple[int, ...], slope: int) -> None:
    x = np.arange(math.prod(shape), dtype=np.float32).reshape(shape) - 9
    slopes = np.arange(slope, dtype=np.float32) + 2
    along = slopes.reshape([-1, *[1] * max(len(shape) - 2, 0)])
    computes("PRelu", opset, [x, slopes], np.where(x < 0, x * along, x))


def test_two_inputs_of_a_gate() -> None:
    gate, linear = np.array([-1, 0.5], "float32"), np.array([2, 4], "float32")
    expected = gate * logistic(2 * gate) * linear
    computes("SwiGLU", 28, [gate, linear], expected.astype("float32"), alpha=2.0)


def test_any_number_of_rows() -> None:
    x = np.array([[-1, 2]], "float64")
    expected = np.where(x < 0, np.expm1(x), x)
    computes("Elu", 22, [x], expected, symbolic={0: ("rows", 2)})


def keeps_nan() -> None:
    for operator in ("Relu", "Elu", "HardSigmoid"):
        assert np.isnan(run(operator, 16, [np.array([math.nan], "float32")])[0][0])


PROGRAMS: whole.Programs = {
    "onnx_activations": {
        "NaN": (keeps_nan,),
        "dtypes": (
            partial(computes, "Elu", 16, [np.array([2.0])], np.array([2.0])),
            partial(computes, "ThresholdedRelu", 16, [np.array([2.0])], np.array([2.0])),
        ),
        "attributes of integers": (
            partial(
                computes, "Shrink", 9, [np.array([5, 0])], np.array([4, 0]), lambd=0.5, bias=0.5
            ),
        ),
    }
}

CURES: whole.Cures = {
    "onnx-elu-half": (("onnx_activations", "dtypes"),),
}
