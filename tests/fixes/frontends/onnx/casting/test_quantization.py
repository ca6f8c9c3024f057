"""Quantization of tensors, axes and blocks, to and from every data type."""

import re
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx import probing
from relaxcheck.fixes.frontends.onnx.casting import casts, quantization
from relaxcheck.fixes.lowerings.elementwise import narrow_casts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes, run

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
X = np.array([[-300, -2.6, -0.5, 0.5], [1.5, 2.4, 100, 1e5]])


@pytest.fixture(autouse=True)
def fixed(fixes_off: None) -> Iterator[None]:
    with installation.install([narrow_casts.FIX, casts.FIX, quantization.FIX]):
        yield


def number(dtype: Any) -> int:
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def quantized(x: Any, scale: Any, zero: Any, dtype: Any) -> Any:
    info = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        quotient = (x / scale).astype("float64")
    return np.clip(np.rint(quotient) + zero, info.min, info.max).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_quotients_by_powers_of_2_have_the_precision_of_the_data(dtype: str) -> None:
    x = np.array([-3, 5, 7, -100]).astype(dtype)
    scale, zero = np.array(2, ml_dtypes.float8_e8m0fnu), np.array(1, "int8")
    expected = np.array([-1, 3, 5, -49], "int8")  # -1.5, 2.5 and 3.5 are rounded to even numbers.
    computes("QuantizeLinear", 28, [x, scale, zero], expected)


@pytest.mark.parametrize("held", [(), (1, 2)])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_tensors(kind: str, dtype: str, held: tuple[int, ...]) -> None:
    x, scale, zero = X.astype(kind), np.array(0.75, kind), np.array(3, dtype)
    expected = quantized(x, scale, 3, dtype)
    computes("QuantizeLinear", 21, [x, scale, zero], expected, held=held)
    back = ((expected.astype("float64") - 3) * float(scale)).astype(kind)
    computes("DequantizeLinear", 21, [expected, scale, zero], back, held=held, tolerance=1e-3)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("opset", [13, 19, 21, 25])
def test_axes(opset: int, axis: int | None) -> None:
    count = X.shape[1 if axis is None else axis]
    scale = np.linspace(0.5, 2, count).astype("float32")
    zero = np.arange(count).astype("uint8")
    shape = (-1, 1) if axis == 0 else (1, -1)
    x = X.astype("float32")
    attributes = {} if axis is None else {"axis": axis}
    wide = [each.reshape(shape) for each in (scale, zero)]
    expected = quantized(x, *wide, "uint8")
    computes("QuantizeLinear", opset, [x, scale, zero], expected, **attributes)
    back = (expected.astype("float32") - wide[1]) * wide[0]
    computes("DequantizeLinear", opset, [expected, scale, zero], back, **attributes)


@pytest.mark.parametrize(("opset", "size"), [(21, 2), (25, 3)])
def test_blocks(opset: int, size: int) -> None:
    x = np.arange(-8, 8).reshape(2, 8).astype("float32")
    blocks = -(-8 // size)
    scale = np.linspace(0.5, 2, 2 * blocks).reshape(2, blocks).astype("float32")
    zero = np.arange(2 * blocks).reshape(2, blocks).astype("int8")
    wide = [np.repeat(each, size, axis=1)[:, :8] for each in (scale, zero)]
    expected = quantized(x, *wide, "int8")
    how: Any = {"axis": 1, "block_size": size}
    computes("QuantizeLinear", opset, [x, scale, zero], expected, **how)
    back = (expected.astype("float32") - wide[1]) * wide[0]
    computes("DequantizeLinear", opset, [expected, scale, zero], back, **how)
    rows: Any = {0: ("rows", 8), 1: ("rows", blocks), 2: ("rows", blocks)}
    computes("DequantizeLinear", opset, [expected, scale, zero], back, symbolic=rows, **how)


@pytest.mark.parametrize("axis", [0, -1])
def test_blocks_of_a_vector(axis: int) -> None:
    x, scale = np.array([1, 2, 30, 40, 500], "float32"), np.array([1, 10, 100], "float32")
    expected = np.array([1, 2, 3, 4, 5], "int8")
    how: Any = {"block_size": 2, "axis": axis}
    zeros = np.zeros(3, "int8")
    computes("QuantizeLinear", 21, [x, scale, zeros], expected, **how)
    computes("DequantizeLinear", 21, [expected, scale], x, **how)
    symbols: Any = {0: ("n",), 1: ("blocks",)}
    computes("DequantizeLinear", 21, [expected, scale], x, symbolic=symbols, **how)


def test_scales_of_com_microsoft_have_the_dtype_of_the_result() -> None:
    x, scale = np.array([[1, 2], [3, 4]], "uint8"), np.array([1, 2], "float16")
    expected = np.array([[1, 4], [3, 8]], "float16")
    computes("DequantizeLinear", 13, [x, scale], expected, domain="com.microsoft")


def test_a_vector_and_a_scale_of_one_element() -> None:
    x, scale = np.array([1, 2, 3], "float32"), np.array([0.5], "float32")
    computes("QuantizeLinear", 13, [x, scale], np.array([2, 4, 6], "uint8"))
    matrix = x.reshape(1, 3)
    computes("QuantizeLinear", 13, [matrix, scale], np.array([[2, 4, 6]], "uint8"))
    computes("DequantizeLinear", 13, [np.array([[2, 4]], "uint8"), scale], np.array([[1, 2]], "f4"))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz"])
def test_eight_bits(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    x = np.array([0.1, -3, 1e6], "float32")
    most = float(ml_dtypes.finfo(dtype).max)
    expected = np.array([0.05, -1.5, most]).astype(dtype)
    scale = np.array(2, "float32")
    computes("QuantizeLinear", 19, [x, scale, np.array(0, dtype)], expected)
    computes("QuantizeLinear", 21, [x, scale], expected, output_dtype=number(dtype))
    computes("DequantizeLinear", 19, [expected, scale], expected.astype("float32") * 2)


def test_precision_and_outputs_of_another_dtype() -> None:
    x, scale = np.array([1.001, 7.5]), np.array(0.5, "float16")
    halves = x.astype("float16")
    expected = quantized(halves, scale, 0, "int8")
    computes("QuantizeLinear", 23, [halves, scale], expected, output_dtype=number("int8"))
    wide = np.array(0.5, "float32")
    how = {"precision": number("float16"), "output_dtype": number("int8")}
    computes("QuantizeLinear", 23, [x.astype("float32"), wide], expected, **how)
    q = np.array([100, -7], "int8")
    computes(
        "DequantizeLinear",
        23,
        [q, wide],
        (q * 0.5).astype(BFLOAT16),
        output_dtype=number(BFLOAT16),
    )
    integers = np.array([100, -2000], "int32")
    computes("QuantizeLinear", 21, [integers, wide], np.array([200, 0], "uint8"))
    computes("DequantizeLinear", 10, [integers, wide], np.array([50, -1000], "float32"))


@pytest.mark.parametrize(
    "x", [[0, 0], [1, 2, 3], [-1, -2, -3], [0, 2, -3, -2.5, 1.34, 0.5], [1e-3, 5]]
)
def test_dynamic_ranges(x: list[float]) -> None:
    data = np.array(x, "float32")
    low, high = min(data.min(), 0), max(data.max(), 0)
    scale = np.float32((high - low) / np.float32(255)) or np.float32(1)
    zero = np.clip(np.rint(-low / scale), 0, 255)
    expected = np.clip(np.rint(data / scale) + zero, 0, 255).astype("uint8")
    outputs = [expected, scale, np.array(zero, "uint8")]
    computes("DynamicQuantizeLinear", 11, [data], *outputs)


@pytest.mark.parametrize("operator", ["QLinearAdd", "QLinearMul"])
def test_sums_and_products(operator: str) -> None:
    a, b = np.array([[1], [200]], "uint8"), np.array([3, 100], "uint8")
    scales = [np.array(value, "float32") for value in (0.5, 0.25, 2)]
    zeros = [np.array(value, "uint8") for value in (1, 2, 3)]
    left, right = (
        (each.astype("float64") - zero) * scale
        for each, zero, scale in zip((a, b), zeros[:2], scales[:2], strict=True)
    )
    result = left + right if operator == "QLinearAdd" else left * right
    expected = quantized(result, 2, 3, "uint8")
    computes(
        operator,
        13,
        [a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2]],
        expected,
    )


def test_functions_of_quantized_tensors() -> None:
    x, scale, zero = (
        np.array([0, 128, 255], "uint8"),
        np.array(0.1, "float32"),
        np.array(128, "uint8"),
    )
    value = (x.astype("float64") - 128) * 0.1
    out = [np.array(1 / 256, "float32"), np.array(0, "uint8")]
    sigmoid = quantized(1 / (1 + np.exp(-value)), 1 / 256, 0, "uint8")
    computes("QLinearSigmoid", 13, [x, scale, zero, *out], sigmoid)
    leaky = quantized(np.where(value < 0, value / 2, value), 0.1, 128, "uint8")
    computes("QLinearLeakyRelu", 13, [x, scale, zero, scale, zero], leaky, alpha=0.5)


def four_bits(kind: int, zero: int) -> Any:
    """QuantizeLinear to ``kind``, Reshape and DequantizeLinear of vectors of 2 elements."""
    held = [
        numpy_helper.from_array(np.array(0.5, "float32"), "scale"),
        helper.make_tensor("zero", kind, [], [zero]),
        numpy_helper.from_array(np.array([2, 1]), "shape"),
    ]
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [2]), ("y", [2, 1]))
    ]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        helper.make_node("Reshape", ["q", "shape"], ["r"]),
        helper.make_node("DequantizeLinear", ["r", "scale", "zero"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "graph", values[:1], values[1:], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=10)


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("INT4", -8, 7), ("UINT4", 0, 15), ("INT2", -2, 1), ("UINT2", 0, 3)],
)
def test_integers_of_fewer_bits(kind: str, low: int, high: int) -> None:
    (actual,) = probing.outputs(
        four_bits(getattr(TensorProto, kind), 1), np.array([100, -100], "float32")
    )
    np.testing.assert_array_equal(actual, np.array([[high - 1], [low - 1]]) * 0.5)


def test_weights_of_four_bits_in_blocks() -> None:
    weights = helper.make_tensor("w", TensorProto.INT4, [2, 4], [-8, 7, 1, -1, 2, 3, -4, 5])
    scale = np.array([[0.5, 2], [1, 4]], "float32")
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in "xy"]
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale"], ["d"], axis=1, block_size=2),
        helper.make_node("Add", ["x", "d"], ["y"]),
    ]
    held = [weights, numpy_helper.from_array(scale, "scale")]
    graph = helper.make_graph(nodes, "graph", values[:1], values[1:], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    (actual,) = probing.outputs(model, np.zeros((2, 4), "float32"))
    numbers = np.array([[-8, 7, 1, -1], [2, 3, -4, 5]])
    np.testing.assert_array_equal(actual, numbers * np.repeat(scale, 2, axis=1))


def test_casts_to_fewer_bits_and_back() -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.INT32, [4]) for name in "xy"]
    for kind, expected in (("INT4", [-8, 7, 0, -1]), ("UINT4", [8, 7, 0, 15])):
        nodes = [
            helper.make_node("Cast", ["x"], ["n"], to=getattr(TensorProto, kind)),
            helper.make_node("Cast", ["n"], ["y"], to=TensorProto.INT32),
        ]
        graph = helper.make_graph(nodes, "graph", values[:1], values[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        (actual,) = probing.outputs(model, np.array([8, 7, 16, -1], "int32"))
        np.testing.assert_array_equal(actual, expected)


def test_nodes_that_compute_with_fewer_bits_are_refused() -> None:
    held = [helper.make_tensor("w", TensorProto.INT4, [2], [1, 2])]
    value = helper.make_tensor_value_info("y", TensorProto.INT64, [1])
    node = helper.make_node("NonZero", ["w"], ["y"])
    model = helper.make_model(helper.make_graph([node], "graph", [], [value], held))
    message = "NonZero cannot be lowered with dtype='INT4'"
    with pytest.raises(Exception, match=re.escape(message)):
        probing.outputs(model)


@pytest.mark.parametrize(
    ("operator", "attributes", "message"),
    [
        ("QuantizeLinear", {"axis": 2}, "axis=2: the input has 2 dimensions"),
        (
            "QuantizeLinear",
            {"output_dtype": TensorProto.INT8},
            "output_dtype='int8': the zero point has dtype uint8",
        ),
        (
            "DequantizeLinear",
            {"axis": 1, "block_size": 2},
            "block_size=2: the shapes are (2, 4) and (4)",
        ),
    ],
)
def test_invalid_attributes(operator: str, attributes: dict[str, Any], message: str) -> None:
    x = np.ones((2, 4), "float16" if operator == "QuantizeLinear" else "uint8")
    inputs = [x, np.ones(4, "float16"), np.ones(4, "uint8")]
    with pytest.raises(ValueError, match=re.escape(f"{operator} is invalid with {message}")):
        run(operator, 21, inputs, **attributes)


PROGRAMS: whole.Programs = {
    "onnx_quantization": {
        "blocks": (whole.upstream("onnx_quantization", "blocks"),),
        "8 bits": (whole.upstream("onnx_quantization", "eight_bits"),),
        "4 bits": (whole.upstream("onnx_quantization", "four_bits"),),
        "zeros": (whole.upstream("onnx_quantization", "zeros"),),
    }
}
