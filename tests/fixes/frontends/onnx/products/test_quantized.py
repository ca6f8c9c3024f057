"""ONNX's products of quantized tensors agree with ONNX Runtime and with NumPy."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.products.quantized import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


ROWS = RANDOM.integers(0, 256, (2, 3), np.uint8)
COLUMNS = RANDOM.integers(0, 256, (3, 4), np.uint8)


def floats(*values: float) -> Array:
    return np.array(values if len(values) > 1 else values[0], np.float32)


def bytes_of(*values: int) -> Array:
    return np.array(values if len(values) > 1 else values[0], np.uint8)


def integer(group: int = 1, points: tuple[Array, ...] = (), **settings: object) -> NodeCase:
    data = RANDOM.integers(0, 256, (2, 4, 5, 6), np.uint8)
    weight = RANDOM.integers(0, 256, (2, 4 // group, 3, 2), np.uint8)
    names = ("x_zero_point", "w_zero_point")
    inputs = {"x": data, "w": weight, **dict(zip(names, points, strict=False))}
    return NodeCase("ConvInteger", 10, inputs, {"group": group, **settings})


def quantized(scale: Array, point: Array, bias: bool = False) -> NodeCase:
    inputs = {
        "x": RANDOM.integers(0, 256, (1, 2, 5, 6), np.uint8),
        "x_scale": floats(0.02),
        "x_zero_point": bytes_of(128),
        "w": RANDOM.integers(0, 256, (2, 2, 3, 2), np.uint8),
        "w_scale": scale,
        "w_zero_point": point,
        "y_scale": floats(0.5),
        "y_zero_point": bytes_of(100),
    }
    if bias:
        inputs["B"] = RANDOM.integers(-1000, 1000, 2, np.int32)
    return NodeCase("QLinearConv", 10, inputs, {"pads": [1, 0, 1, 0]})


def product() -> NodeCase:
    inputs = {
        "a": ROWS,
        "a_scale": floats(0.02),
        "a_zero_point": bytes_of(120),
        "b": COLUMNS,
        "b_scale": floats(0.03),
        "b_zero_point": bytes_of(110),
        "y_scale": floats(0.1),
        "y_zero_point": bytes_of(90),
    }
    return NodeCase("QLinearMatMul", 10, inputs)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "integers": programs(integer()),
        "quantized convolutions": programs(quantized(floats(0.03), bytes_of(3))),
        "quantized products": programs(product()),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


def test_convolution_of_integers() -> None:
    check(integer())
    check(integer(points=(bytes_of(3),)))
    check(integer(points=(bytes_of(3), bytes_of(7))))
    check(integer(2, (bytes_of(3), bytes_of(7)), strides=[2, 1], pads=[1, 1, 0, 0]))


def test_a_zero_point_of_each_channel() -> None:
    case = integer(points=(bytes_of(3), bytes_of(7, 9)))
    data, weight = (case.inputs[name].astype(np.int64) for name in ("x", "w"))  # type: ignore[union-attr]
    moved = weight - np.array([7, 9]).reshape(2, 1, 1, 1)
    expected = np.zeros((2, 2, 3, 5), np.int32)
    for y, x in np.ndindex(3, 5):
        part = (data - 3)[:, :, y : y + 3, x : x + 2]
        expected[:, :, y, x] = np.einsum("nchw,ochw->no", part, moved)
    check(NodeCase("ConvInteger", 10, case.inputs, case.attributes, expected=(expected,)))


@pytest.mark.parametrize("bias", [False, True])
def test_quantized_convolution(bias: bool) -> None:
    check(quantized(floats(0.03), bytes_of(3), bias))
    check(quantized(floats(0.03, 0.01), bytes_of(3, 3), bias))


def test_quantized_product() -> None:
    check(product())
    case = product()
    check(NodeCase("QLinearMatMul", 10, case.inputs, shapes={"a": ("M", 3), "b": (3, "N")}))


def test_scales_of_rows_and_columns() -> None:
    inputs = dict(product().inputs)
    inputs["a_scale"], inputs["b_scale"] = floats(0.02, 0.04), floats(0.01, 0.02, 0.03, 0.04)
    inputs["a_zero_point"], inputs["b_zero_point"] = bytes_of(1, 2), bytes_of(1, 2, 3, 4)
    left = ROWS.astype(np.int64) - np.array([[1], [2]])
    right = COLUMNS.astype(np.int64) - np.array([1, 2, 3, 4])
    scale = np.array([[0.02], [0.04]]) * np.array([0.01, 0.02, 0.03, 0.04]) / 0.1
    expected = np.clip(np.rint(left @ right * scale) + 90, 0, 255).astype(np.uint8)
    check(NodeCase("QLinearMatMul", 10, inputs, expected=(expected,)))
