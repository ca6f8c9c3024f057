"""ONNX's other normalizations agree with ONNX Runtime, and with NumPy where it has no kernel."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.normalization.groups import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)
SHAPES = [(2, 6, 4), (2, 6, 3, 4), (2, 6, 2, 3, 2)]


def drawn(*shape: int, dtype: str = "float32") -> Array:
    return RANDOM.standard_normal(shape).astype(dtype)


def response(data: Array, size: int) -> NodeCase:
    """LRN, and its output."""
    squares = np.zeros_like(data)
    for channel in range(data.shape[1]):
        first = max(0, channel - (size - 1) // 2)
        near = data[:, first : channel + size // 2 + 1]
        squares[:, channel] = (near**2).sum(1)
    expected = data / (2 + 0.5 / size * squares) ** 0.75
    settings = {"size": size, "alpha": 0.5, "bias": 2.0}
    return NodeCase("LRN", 13, {"X": data}, settings, expected=(expected.astype(data.dtype),))


def centered(data: Array, axes: list[int]) -> NodeCase:
    """MeanVarianceNormalization, and its output."""
    along = tuple(axes)
    deviation = data.std(along, keepdims=True) + data.dtype.type(1e-9)
    expected = (data - data.mean(along, keepdims=True)) / deviation
    name = "MeanVarianceNormalization"
    return NodeCase(name, 13, {"X": data}, {"axes": axes}, expected=(expected,))


PROGRAMS: whole.Programs = {
    FIX.name: {
        "even sizes": programs(response(drawn(2, 5, 3), 2), response(drawn(2, 5, 3), 4)),
        "float64": programs(centered(drawn(2, 3, 4, dtype="float64"), [0, 2])),
        "norms": programs(NodeCase("LpNormalization", 22, {"input": drawn(2, 3)}, {"p": 1})),
    }
}

CURES: whole.Cures = {
    "onnx-lrn-even-size": ((FIX.name, "even sizes"),),
    "onnx-mean-variance-half": ((FIX.name, "float64"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_channels(shape: tuple[int, ...], dtype: str) -> None:
    weights = {name: drawn(6, dtype=dtype) for name in ("scale", "B")}
    inputs = {"input": drawn(*shape, dtype=dtype), **weights}
    settings = {"epsilon": 0.25}
    wide = inputs["input"]
    axes = tuple(range(2, len(shape)))
    place = (-1, *[1] * len(axes))
    normal = (wide - wide.mean(axes, keepdims=True)) / np.sqrt(wide.var(axes, keepdims=True) + 0.25)
    expected = normal * weights["scale"].reshape(place) + weights["B"].reshape(place)
    for shapes in ({}, {"input": ("B", 6, *shape[2:])}):
        case = NodeCase(
            "InstanceNormalization",
            6,
            inputs,
            settings,
            shapes=shapes,
            expected=(expected.astype(dtype),),
        )
        check(case)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("opset", [18, 21])
def test_groups(shape: tuple[int, ...], opset: int) -> None:
    scale = drawn(2 if opset == 18 else 6)
    data = drawn(*shape)
    apart = data.reshape(2, 2, -1)
    normal = (apart - apart.mean(2, keepdims=True)) / np.sqrt(
        apart.var(2, keepdims=True) + np.float32(1e-5)
    )
    each = np.repeat(scale, 6 // len(scale)).reshape(-1, *[1] * (len(shape) - 2))
    expected = normal.reshape(shape) * each + each
    inputs = {"X": data, "scale": scale, "bias": scale}
    for shapes in ({}, {"X": ("B", 6, *shape[2:])}):
        case = NodeCase(
            "GroupNormalization",
            opset,
            inputs,
            {"num_groups": 2},
            shapes=shapes,
            expected=(expected,),
        )
        check(case)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("shape", [(2, 5), (2, 5, 3), (2, 5, 3, 2), (1, 5, 2, 2, 2)])
def test_nearby_channels(size: int, shape: tuple[int, ...]) -> None:
    check(response(drawn(*shape), size))


@pytest.mark.parametrize("axes", [[0, 2, 3], [1, -1], [0, 1]])
def test_statistics_alone(axes: list[int]) -> None:
    check(centered(drawn(3, 2, 4, 5), axes))
    check(centered(drawn(3, 2, 4, 5, dtype="float64"), axes))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("power", [1, 2])
def test_norms(axis: int, power: int) -> None:
    data = drawn(3, 4)
    data[:2] = 0
    data[2, 1] = 0
    check(NodeCase("LpNormalization", 22, {"input": data}, {"axis": axis, "p": power}))


def test_errors_name_operator_and_attribute() -> None:
    with pytest.raises(ValueError, match=r"LpNormalization is invalid with p=3"):
        check(NodeCase("LpNormalization", 22, {"input": drawn(2, 3)}, {"p": 3}))
    inputs = {"X": drawn(2, 6, 3), "scale": drawn(6), "bias": drawn(6)}
    with pytest.raises(ValueError, match=r"GroupNormalization is invalid with num_groups=4"):
        check(NodeCase("GroupNormalization", 21, inputs, {"num_groups": 4}))
