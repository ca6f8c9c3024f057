"""ONNX's CumSum and CumProd agree with NumPy."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.reducing.running import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


DATA = RANDOM.integers(1, 4, (2, 3, 4))


def running(
    operator: str, axis: int, *, reverse: int = 0, exclusive: int = 0, dtype: str = "float32"
) -> NodeCase:
    """A running sum or product, and its value."""
    function, neutral = (np.cumsum, 0) if operator == "CumSum" else (np.cumprod, 1)
    data = DATA.astype(dtype)
    lines = np.flip(data, axis) if reverse else data
    result = function(lines, axis, dtype=dtype)
    if exclusive:
        result = np.roll(result, 1, axis)
        place = [slice(None)] * data.ndim
        place[axis] = slice(1)
        result[tuple(place)] = neutral
    result = np.flip(result, axis) if reverse else result
    settings = {"reverse": reverse, "exclusive": exclusive}
    inputs = {"x": data, "axis": np.array(axis, np.int32)}
    opset = 14 if operator == "CumSum" else 26
    return NodeCase(operator, opset, inputs, settings, expected=(result,))


def held(case: NodeCase) -> NodeCase:
    inputs, settings = case.inputs, case.attributes
    return NodeCase(case.operator, case.opset, inputs, settings, ("axis",), expected=case.expected)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "axes at run time": programs(running("CumSum", 1)),
        "products": programs(held(running("CumProd", 1))),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("operator", ["CumSum", "CumProd"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
def test_lines(operator: str, axis: int, reverse: int, exclusive: int) -> None:
    case = running(operator, axis, reverse=reverse, exclusive=exclusive)
    check(held(case))
    check(case)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64", "float64", "float16"])
def test_dtypes(dtype: str) -> None:
    check(held(running("CumSum", 1, dtype=dtype)))
    check(running("CumProd", 1, dtype=dtype))


def test_symbolic_sizes() -> None:
    case = running("CumSum", 1, reverse=1)
    shapes = {"x": ("B", "n", 4)}
    common = (case.operator, case.opset, case.inputs, case.attributes)
    check(NodeCase(*common, shapes=shapes, expected=case.expected))
    check(NodeCase(*common, ("axis",), shapes, expected=case.expected))


def test_errors_name_operator_and_axis() -> None:
    inputs = {"x": DATA.astype(np.float32), "axis": np.array(3, np.int64)}
    with pytest.raises(ValueError, match=r"CumSum is invalid with axis=3"):
        check(NodeCase("CumSum", 14, inputs, held=("axis",)))
