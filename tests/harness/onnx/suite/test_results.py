"""Verdicts on outputs and on errors."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

from relaxcheck.harness.onnx.suite.results import compared, refused
from relaxcheck.harness.onnx.suite.tests import SuiteTest
from relaxcheck.harness.outcomes.outcome import Verdict


def of(operator: str = "Relu", outputs: int = 1, **attributes: Any) -> SuiteTest:
    names = [f"y{at}" for at in range(outputs)]
    node = helper.make_node(operator, ["x"], names, **attributes)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    model = helper.make_model(helper.make_graph([node], "g", [x], values))
    return SuiteTest("test", "node", model, (((), ()),), rtol=1e-3, atol=1e-7, operator=operator)


ONES = np.ones(2, np.float32)


@pytest.mark.parametrize(
    ("actual", "expected", "verdict"),
    [
        (ONES, ONES, Verdict.PASS),
        (ONES * np.float32(1.0009), ONES, Verdict.PASS),
        (ONES * np.float32(1.0011), ONES, Verdict.WRONG_VALUE),
        (ONES * np.nan, ONES * np.nan, Verdict.PASS),
        (ONES, ONES * np.nan, Verdict.WRONG_VALUE),
        (ONES * np.inf, -ONES * np.inf, Verdict.WRONG_VALUE),
        (ONES, np.ones((2, 1), np.float32), Verdict.WRONG_SHAPE),
        (ONES, np.ones(2, np.float64), Verdict.WRONG_DTYPE),
        (np.int8([127]), np.int8([126]), Verdict.WRONG_VALUE),
        ([ONES], [ONES], Verdict.PASS),
        ([ONES], [ONES, ONES], Verdict.WRONG_SHAPE),
        ([ONES], [ONES + 1], Verdict.WRONG_VALUE),
        (ONES, [ONES], Verdict.WRONG_DTYPE),
        (None, None, Verdict.PASS),
        (None, ONES, Verdict.WRONG_DTYPE),
        (ONES, None, Verdict.WRONG_DTYPE),
        (np.array(["a", "b"], object), np.array(["a", "b"], object), Verdict.PASS),
        (np.array(["a", "b"], object), np.array(["a", "c"], object), Verdict.WRONG_VALUE),
    ],
)
def test_shape_and_dtype_count_exactly_and_floats_to_the_stated_tolerance(
    actual: Any, expected: Any, verdict: Verdict
) -> None:
    assert compared(of(), [actual], [expected]).verdict is verdict


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1 + 2**-6, 1 - 2**-7], Verdict.PASS),
        ([1 + 2**-5, 1], Verdict.WRONG_VALUE),
        ([0, 1], Verdict.WRONG_VALUE),
    ],
)
def test_bfloat16_has_the_tolerance_of_the_runner_of_onnx(
    values: list[float], verdict: Verdict
) -> None:
    ones = ONES.astype(ml_dtypes.bfloat16)
    assert compared(of(), [np.array(values, ones.dtype)], [ones]).verdict is verdict


def test_a_further_output_is_named_and_counted() -> None:
    two = of(outputs=2)
    assert compared(two, [ONES, ONES + 1], [ONES, ONES]).message.startswith("output y1: 2 of 2")
    assert compared(two, [ONES], [ONES, ONES]).verdict is Verdict.WRONG_SHAPE


def test_random_numbers_choose_the_elements_that_are_zero_and_no_others() -> None:
    drawn = of("Bernoulli")
    assert compared(drawn, [np.float32([0, 1])], [np.float32([1, 0])]).verdict is Verdict.PASS
    assert compared(drawn, [np.float32([0, 2])], [np.float32([1, 1])]).message == (
        "output y0: 1 of 2 elements differ"
    )
    assert compared(drawn, [ONES[:1]], [ONES]).verdict is Verdict.WRONG_SHAPE


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ("OpNotImplemented: operators are not supported for frontend ONNX: Relu", "unsupported"),
        ("ValueError: Node  cannot handle ShapeExpr inputs.", "opaque-crash"),
        ("KeyError: 'num_heads'", "opaque-crash"),
    ],
)
def test_a_refusal_names_the_operator(message: str, verdict: str) -> None:
    assert refused(of(), "import", message).verdict == verdict


def test_a_refusal_that_names_no_operator_is_counted_apart() -> None:
    result = refused(of(), "import", "ValueError: dynamic shapes are not supported")
    assert (result.verdict, result.unnamed) == (Verdict.UNSUPPORTED, True)
    assert not refused(of(), "import", "ValueError: dynamic Relu is not supported").unnamed


def test_an_error_that_names_operator_and_attribute_is_a_refusal() -> None:
    message = "ValueError: Gather: axis 7 is out of range"
    assert refused(of("Gather", axis=7), "import", message).verdict is Verdict.UNSUPPORTED
    assert refused(of("Add"), "import", message).verdict is Verdict.OPAQUE_CRASH
