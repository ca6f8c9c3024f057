"""ONNX's reductions agree with ONNX Runtime, with axes as attribute, weight and input."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.reducing.reductions import CONVERSIONS, FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

DATA = np.abs(np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)) + 0.5
INFINITIES = np.array([[-np.inf, -np.inf], [np.inf, 1], [0, 1]], np.float32)
EMPTY = np.zeros((2, 0), np.float32)
OF_NOTHING = {
    "ReduceSum": 0,
    "ReduceProd": 1,
    "ReduceMax": -np.inf,
    "ReduceMin": np.inf,
    "ReduceMean": np.nan,
    "ReduceL1": 0,
    "ReduceL2": 0,
    "ReduceSumSquare": 0,
    "ReduceLogSum": -np.inf,
    "ReduceLogSumExp": -np.inf,
}


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "infinities": programs(
            NodeCase("ReduceMax", 13, {"data": INFINITIES}, {"axes": [1]}),
            NodeCase("ReduceLogSumExp", 13, {"data": INFINITIES}, {"axes": [1]}),
        ),
        "axes at run time": programs(
            NodeCase("ReduceMean", 18, {"data": DATA, "axes": integers(1)})
        ),
        "truth values": programs(
            NodeCase("ReduceMin", 20, {"data": np.array([True])}, expected=(np.array([True]),))
        ),
    }
}

CURES: whole.Cures = {
    "onnx-reduce-max-bools": ((FIX.name, "truth values"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("operator", CONVERSIONS)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_axes_everywhere(operator: str, keepdims: int) -> None:
    old = 11 if operator == "ReduceSum" else 17
    axes = integers(-1, 0)
    flags = {"keepdims": keepdims}
    shapes = {"data": ("B", 3, "C")}
    check(NodeCase(operator, old, {"data": DATA}, {"axes": [-1, 0], **flags}))
    check(NodeCase(operator, 18, {"data": DATA, "axes": axes}, flags, held=("axes",)))
    check(NodeCase(operator, 18, {"data": DATA, "axes": axes}, flags, shapes=shapes))
    check(NodeCase(operator, 18, {"data": DATA}, {"noop_with_empty_axes": 1, **flags}))


@pytest.mark.parametrize("operator", CONVERSIONS)
def test_a_number_of_axes_at_run_time(operator: str) -> None:
    for axes in (integers(1), integers(2, 0), integers()):
        check(NodeCase(operator, 18, {"data": DATA, "axes": axes}, shapes={"axes": ("n",)}))


@pytest.mark.parametrize("operator", CONVERSIONS)
def test_no_elements(operator: str) -> None:
    expected = (np.full((2, 1), OF_NOTHING[operator], np.float32),)
    inputs = {"data": EMPTY, "axes": integers(1)}
    shapes = {"data": (2, "n")}
    check(NodeCase(operator, 18, inputs, held=("axes",), shapes=shapes, expected=expected))
    known = {**inputs, "data": np.zeros((2, 0), np.float32)}
    check(NodeCase(operator, 18, known, held=("data", "axes"), expected=expected))
    check(NodeCase(operator, 18, inputs, shapes=shapes, expected=expected))


@pytest.mark.parametrize("operator", ["ReduceMax", "ReduceMin", "ReduceLogSumExp"])
def test_infinities(operator: str) -> None:
    check(NodeCase(operator, 13, {"data": INFINITIES}, {"axes": [1]}))


@pytest.mark.parametrize("operator", ["ReduceMax", "ReduceMin"])
def test_truth_values(operator: str) -> None:
    data = np.array([[True, False], [True, True]])
    expected = data.any(1) if operator == "ReduceMax" else data.all(1)
    inputs = {"data": data, "axes": integers(1)}
    check(NodeCase(operator, 20, inputs, {"keepdims": 0}, expected=(expected,)))
    nothing = {"data": np.zeros((2, 0), np.bool_), "axes": integers(1)}
    neutral = np.full((2, 1), operator == "ReduceMin")
    check(NodeCase(operator, 20, nothing, held=("axes",), expected=(neutral,)))


@pytest.mark.parametrize(
    ("operator", "expected"),
    [("ReduceMean", [1, -1]), ("ReduceL2", [2, 3]), ("ReduceLogSumExp", [1, 0])],
)
def test_integers_are_rounded_towards_zero(operator: str, expected: list[int]) -> None:
    data = np.array([[1, 1, 2], [-2, -2, -1]], np.int32)
    want = np.array(expected, np.int32)
    if operator == "ReduceLogSumExp":
        want = np.trunc(np.log(np.exp(data).sum(1))).astype(np.int32)
    case = NodeCase(operator, 13, {"data": data}, {"axes": [1], "keepdims": 0}, expected=(want,))
    check(case)


def test_float16_is_computed_in_float32() -> None:
    data = np.full((1, 4), 300, np.float16)
    want = np.full((1, 1), 600, np.float16)
    check(NodeCase("ReduceL2", 13, {"data": data}, {"axes": [1]}, expected=(want,)))


def test_errors_name_operator_and_axes() -> None:
    for axes in ([3], [0, -3]):
        with pytest.raises(ValueError, match=r"ReduceSum is invalid with axes="):
            check(NodeCase("ReduceSum", 11, {"data": DATA}, {"axes": axes}))
    unknown = NodeCase(
        "ReduceSum",
        13,
        {"data": DATA, "axes": integers(1)},
        {"keepdims": 0},
        shapes={"axes": ("n",)},
    )
    with pytest.raises(Exception, match=r"ReduceSum cannot be lowered with keepdims=0"):
        check(unknown)
