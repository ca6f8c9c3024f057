"""Cast, CastLike and BitCast between data types that TVM holds, and the others refused."""

import itertools
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper
from tvm.relax.frontend.onnx import from_onnx

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx import probing
from relaxcheck.fixes.frontends.onnx.casting import casts
from relaxcheck.fixes.lowerings.elementwise import narrow_casts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes, run

EIGHT_BITS = {
    name: np.dtype(getattr(ml_dtypes, name))
    for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
}
LARGEST = dict(zip(EIGHT_BITS, (448, 240, 57344, 57344), strict=True))
EXPONENTS = np.dtype(ml_dtypes.float8_e8m0fnu)
ORDINARY = [
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "bool"),
]


@pytest.fixture(autouse=True)
def fixed(fixes_off: None) -> Iterator[None]:
    """Narrow floats are cast by the lowering that another fix mends."""
    with installation.install([narrow_casts.FIX, casts.FIX]):
        yield


def number(dtype: Any) -> int:
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def test_all_pairs_of_ordinary_data_types() -> None:
    for source, to in itertools.product(ORDINARY, repeat=2):
        x = np.array([0, 1, 2, 100]).astype(source)
        computes("Cast", 13, [x], x.astype(to), to=number(to))


def test_constants_without_elements() -> None:
    x = np.zeros((2, 0), "int32")
    computes("Cast", 13, [x], x.astype("float32"), to=number("float32"), held=[0])
    like = np.zeros(1, "float32")
    computes("CastLike", 15, [x, like], x.astype("float32"), held=[0])


def test_parameters_of_four_bits_are_refused() -> None:
    x = np.array([1, 2], ml_dtypes.float4_e2m1fn)
    model = probing.node_model("Cast", {"x": x}, 23, held=["x"], to=number("float32"))
    message = "Cast cannot be lowered with dtype of input='float4_e2m1fn'"
    with pytest.raises(Exception, match=re.escape(message)):
        from_onnx(model, keep_params_in_input=True)


@pytest.mark.parametrize("name", EIGHT_BITS)
@pytest.mark.parametrize("source", ["float32", "float16", "float64", "int32", "uint8", "bool"])
def test_to_eight_bits_and_back(name: str, source: str) -> None:
    values = np.array([0, 1, 1.0625, 3, 17, 100])
    x = values.astype(source)
    expected = x.astype("float32").astype(EIGHT_BITS[name])
    computes("Cast", 19, [x], expected, to=number(expected.dtype))
    back = np.trunc(expected.astype("float32")).astype(source) if source != "bool" else None
    if back is None:
        back = expected.astype("float32") != 0
    elif "float" in source:
        back = expected.astype("float32").astype(source)
    computes("Cast", 19, [expected], back, to=number(source))


@pytest.mark.parametrize("name", EIGHT_BITS)
@pytest.mark.parametrize("operator", ["Cast", "CastLike"])
def test_saturation(operator: str, name: str) -> None:
    dtype, most = EIGHT_BITS[name], LARGEST[name]
    x = np.array([1e6, -1e6, np.inf, -np.inf, np.nan, -0.0], "float32")
    expected = np.array([most, -most, most, -most, np.nan, 0]).astype(dtype)
    inputs = [x] if operator == "Cast" else [x, expected]
    target = {"to": number(dtype)} if operator == "Cast" else {}
    computes(operator, 19, inputs, expected, **target)
    wild = x.astype(dtype)
    computes(operator, 19, inputs, wild, saturate=0, **target)


def test_bytes_that_are_beyond_eight_bits() -> None:
    x = np.array([240, 247, 248, 255], "uint8")
    expected = np.full(4, 240).astype(ml_dtypes.float8_e4m3fnuz)
    computes("Cast", 19, [x], expected, to=number(expected.dtype))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("up", [1, 2, 4, 128, 2**-126]), ("down", [1, 1, 2, 64, 2**-127]), ("nearest", None)],
)
def test_powers_of_two(mode: str, expected: list[float] | None) -> None:
    x = np.array([1, 1.5, 2.5, 100, 1.25 * 2.0**-127], "float32")
    wanted = np.array(expected or [1, 2, 2, 128, 2**-127]).astype(EXPONENTS)
    computes("Cast", 25, [x], wanted, to=number(EXPONENTS), round_mode=mode)
    computes("Cast", 25, [wanted], wanted.astype("float32"), to=number("float32"))


@pytest.mark.parametrize(
    ("saturate", "expected"),
    [(1, [2.0**-127, np.nan, 2.0**127, 2.0**-127]), (0, [np.nan] * 4)],
)
def test_ends_of_powers_of_two(saturate: int, expected: list[float]) -> None:
    x = np.array([0, np.nan, np.inf, 2.0**-140], "float32")
    wanted = np.array(expected).astype(EXPONENTS)
    computes("Cast", 25, [x], wanted, to=number(EXPONENTS), saturate=saturate)


@pytest.mark.parametrize(
    ("source", "to"),
    [
        ("float32", "int32"),
        ("int64", "float64"),
        ("float16", "uint16"),
        ("int8", "uint8"),
        ("uint16", "bfloat16"),
        ("uint8", "float8_e5m2"),
    ],
)
def test_bits(source: str, to: str) -> None:
    kinds = [np.dtype(getattr(ml_dtypes, name, name)) for name in (source, to)]
    x = np.array([[0, 1, 2], [3, 100, 5]]).astype(kinds[0])
    computes("BitCast", 26, [x], x.view(kinds[1]), to=number(kinds[1]))
    computes("BitCast", 26, [x], x.view(kinds[1]), to=number(kinds[1]), symbolic={0: ("n", 3)})


def test_bits_of_truth_values() -> None:
    x = np.array([True, False])
    computes("BitCast", 26, [x], x.view("int8"), to=number("int8"))
    computes("BitCast", 26, [x.view("uint8")], x, to=number("bool"))


@pytest.mark.parametrize(
    ("operator", "opset", "attributes", "message"),
    [
        ("Cast", 13, {"to": TensorProto.STRING}, "Cast cannot be lowered with to='STRING'"),
        ("Cast", 23, {"to": TensorProto.FLOAT4E2M1}, "Cast cannot be lowered with to='FLOAT4E2M1'"),
        (
            "BitCast",
            26,
            {"to": TensorProto.INT64},
            "BitCast is invalid with to='int64': float32 has another number of bits",
        ),
        (
            "Cast",
            25,
            {"to": TensorProto.FLOAT8E8M0, "round_mode": "odd"},
            "Cast is invalid with round_mode='odd': it must be one of up, down, nearest",
        ),
    ],
)
def test_attributes(operator: str, opset: int, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=re.escape(message)):
        run(operator, opset, [np.ones(2, "float32")], **attributes)


@pytest.mark.parametrize("kind", ["STRING", "INT4", "UINT2", "FLOAT4E2M1", "COMPLEX64"])
def test_inputs_and_outputs_that_tvm_cannot_hold(kind: str) -> None:
    values = [
        helper.make_tensor_value_info(name, getattr(TensorProto, data_type), [2])
        for name, data_type in (("x", kind), ("y", "FLOAT"), ("z", kind))
    ]
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=1), helper.make_node("Foo", ["y"], ["z"])]
    imports = [helper.make_opsetid("", 25)]
    for inputs, outputs, message in (
        (values[:1], values[1:2], f"Cast cannot be lowered with input='x', dtype='{kind}'"),
        (values[1:2], values[2:], f"Foo cannot be lowered with output='z', dtype='{kind}'"),
    ):
        graph = helper.make_graph(nodes, "graph", inputs, outputs)
        with pytest.raises(Exception, match=re.escape(message)):
            from_onnx(helper.make_model(graph, opset_imports=imports))


PROGRAMS: whole.Programs = {
    "onnx_casts": {
        "saturation": (
            partial(
                computes,
                *("Cast", 19, [np.array([1e3], "float32")]),
                np.array([448]).astype(ml_dtypes.float8_e4m3fn),
                to=TensorProto.FLOAT8E4M3FN,
            ),
        ),
        "bits": (whole.upstream("onnx_casts", "bits"),),
        "other data types": (whole.upstream("onnx_casts", "texts"),),
    }
}

CURES: whole.Cures = {
    "onnx-cast-saturates": (("onnx_casts", "saturation"),),
}
