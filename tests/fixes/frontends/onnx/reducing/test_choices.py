"""ONNX's ArgMax, ArgMin and the kin of Softmax agree with ONNX Runtime."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.reducing.choices import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


DATA = RANDOM.integers(0, 3, (2, 3, 4)).astype(np.float32)

PROGRAMS: whole.Programs = {
    FIX.name: {
        "the lowest integers": programs(
            NodeCase(
                "ArgMax",
                13,
                {"data": np.array([0, 0], np.uint64)},
                expected=(np.array([0], np.int64),),
            )
        ),
        "symbolic sizes": programs(
            NodeCase("Hardmax", 13, {"input": DATA}, shapes={"input": ("B", 3, "n")})
        ),
    }
}

CURES: whole.Cures = {
    "onnx-arg-max-zeros": ((FIX.name, "the lowest integers"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("last", [0, 1])
def test_places(operator: str, axis: int, last: int) -> None:
    settings = {"axis": axis, "select_last_index": last}
    check(NodeCase(operator, 13, {"data": DATA}, settings))
    check(NodeCase(operator, 13, {"data": DATA}, {**settings, "keepdims": 0}))
    check(NodeCase(operator, 13, {"data": DATA}, settings, shapes={"data": ("B", "n", 4)}))


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "float64"])
@pytest.mark.parametrize("last", [0, 1])
def test_extremes_of_a_dtype(operator: str, dtype: str, last: int) -> None:
    if dtype == "float64":
        value = -np.inf if operator == "ArgMax" else np.inf
    else:
        limits = np.iinfo(dtype)
        value = limits.min if operator == "ArgMax" else limits.max
    data = np.full((1, 3), value, dtype)
    expected = (np.array([[2 if last else 0]], np.int64),)
    settings = {"axis": 1, "select_last_index": last}
    check(NodeCase(operator, 13, {"data": data}, settings, expected=expected))


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("opset", [7, 11, 13])
def test_weights(operator: str, axis: int, opset: int) -> None:
    settings = {"axis": axis}
    check(NodeCase(operator, opset, {"input": DATA}, settings))
    shapes = {"input": ("B", "n", 4)}
    check(NodeCase(operator, opset, {"input": DATA}, settings, shapes=shapes))
    every = {"input": ("B", "n", "m")}
    check(NodeCase(operator, opset, {"input": DATA}, settings, shapes=every))
    empty = np.zeros((2, 0, 4), np.float32)
    check(NodeCase(operator, opset, {"input": empty}, settings, ("input",), expected=(empty,)))


def test_errors_name_operator_and_axis() -> None:
    for operator in ("ArgMax", "Hardmax"):
        with pytest.raises(ValueError, match=rf"{operator} is invalid with axis=3"):
            check(NodeCase(operator, 13, {"data": DATA}, {"axis": 3}))


@pytest.mark.parametrize("shape", [(2, 0, 3), (0, 2, 3), (2, 2, 3)])
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "Hardmax"])
def test_lines_of_symbolic_sizes_may_be_empty(operator: str, shape: tuple[int, ...]) -> None:
    data = RANDOM.standard_normal(shape).astype(np.float32)
    lines = data.reshape(shape[0], shape[1] * shape[2]).astype(np.float64)
    powers = np.exp(lines)
    expected = powers / powers.sum(axis=1, keepdims=True)
    expected = np.log(expected) if operator == "LogSoftmax" else expected
    if operator == "Hardmax" and lines.size:
        expected = np.eye(lines.shape[1])[lines.argmax(axis=1)]
    result = expected.reshape(shape).astype(np.float32)
    shapes = {"input": ("B", "M", "N")}
    check(NodeCase(operator, 7, {"input": data}, shapes=shapes, expected=(result,)))
