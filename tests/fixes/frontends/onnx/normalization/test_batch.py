"""ONNX's BatchNormalization agrees with ONNX Runtime and with NumPy, in every version."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.normalization.batch import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)
SHAPES = [(4, 3), (2, 3, 4), (2, 3, 4, 5)]
OPERATOR = "BatchNormalization"


def inputs(shape: tuple[int, ...], dtype: str = "float32", own: str = "") -> dict[str, Array]:
    """The data, and parameters and statistics of their channels of dtype ``own``."""
    names = ("scale", "B", "input_mean", "input_var")
    values = {name: np.abs(RANDOM.standard_normal(shape[1])) + 0.5 for name in names}
    arrays = {name: value.astype(own or dtype) for name, value in values.items()}
    return {"X": RANDOM.standard_normal(shape).astype(dtype), **arrays}


def trained(arrays: dict[str, Array], momentum: float) -> NodeCase:
    """A node in training, and its outputs."""
    data, scale, bias, mean, variance = arrays.values()
    axes = tuple(axis for axis in range(data.ndim) if axis != 1)
    place = (-1, *[1] * (data.ndim - 2))
    wide = data.astype(np.float32)
    now, spread = wide.mean(axes), wide.var(axes)
    normal = (wide - now.reshape(place)) / np.sqrt(spread + np.float32(1e-5)).reshape(place)
    result = normal * scale.reshape(place) + bias.reshape(place)
    running = (
        mean * momentum + now * (1 - momentum),
        variance * momentum + spread * (1 - momentum),
    )
    return NodeCase(
        OPERATOR,
        15,
        arrays,
        {"training_mode": 1, "momentum": momentum},
        outputs=3,
        expected=(result.astype(data.dtype), *(each.astype(mean.dtype) for each in running)),
    )


PROGRAMS: whole.Programs = {
    FIX.name: {"running statistics": programs(trained(inputs((4, 3)), 0.75))}
}

CURES: whole.Cures = {
    "onnx-batch-norm-running-statistics": ((FIX.name, "running statistics"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_inference(shape: tuple[int, ...], opset: int) -> None:
    check(NodeCase(OPERATOR, opset, inputs(shape)))
    check(NodeCase(OPERATOR, opset, inputs(shape), shapes={"X": ("B", *shape[1:])}))
    check(NodeCase(OPERATOR, opset, inputs(shape, "float64")))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtypes", [("float32", ""), ("float16", ""), ("float16", "float32")])
def test_training(shape: tuple[int, ...], dtypes: tuple[str, str]) -> None:
    check(trained(inputs(shape, *dtypes), 0.75))


def test_statistics_of_each_element() -> None:
    arrays = inputs((2, 3))
    arrays = {name: np.stack([array, array + 1], -1) for name, array in arrays.items()}
    data, scale, bias, mean, variance = arrays.values()
    expected = (data - mean) / np.sqrt(variance + np.float32(1e-5)) * scale + bias
    check(NodeCase(OPERATOR, 7, arrays, {"spatial": 0}, expected=(expected,)))


def test_training_before_opset_14_is_refused() -> None:
    with pytest.raises(Exception, match=r"BatchNormalization cannot be lowered with opset=9"):
        check(NodeCase(OPERATOR, 9, inputs((4, 3)), outputs=5))
    with pytest.raises(ValueError, match=r"BatchNormalization is invalid with outputs=3"):
        check(NodeCase(OPERATOR, 15, inputs((4, 3)), outputs=3))
