"""The inputs of a graph, and their dimensions."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.frontends.onnx.graph.inputs import Dimensions
from relaxcheck.fixes.tvm_api import shapes
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats

JOINED = "f (float[n] x, float[m] y) => (float[p] z) { z = Concat <axis = 0> (x, y) }"


def parameters(model: Any, **settings: Any) -> list[Any]:
    return list(onnx_texts.imported(model, **settings)["main"].params)


def test_a_dimension_of_0(fixes_on: None) -> None:
    model = onnx_texts.model_of(JOINED.replace("[n]", "[0]"))
    assert [tvm_api.as_int(dim) for dim in tvm_api.shape_of(parameters(model)[0])] == [0]


@pytest.mark.parametrize(
    "name", ["?", "-1", "-2", "True", "batch-size", "a b", "x.1", "max(n)", "7up"]
)
def test_names_that_are_no_expressions(name: str, fixes_on: None) -> None:
    agrees(JOINED, [floats(2), floats(3)], [floats(0), floats(1)], sizes={"n": name})


def test_dimensions_without_names_differ(fixes_on: None) -> None:
    model = onnx_texts.model_of(JOINED)
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].Clear()
    run = onnx_texts.compiled(onnx_texts.imported(model))
    assert run(floats(2), floats(3))[0].shape == (5,)


@pytest.mark.parametrize("name", ["?", "-1"])
def test_dimensions_of_which_nothing_is_known_differ(name: str, fixes_on: None) -> None:
    agrees(JOINED, [floats(2), floats(3)], sizes={"n": name, "m": name})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a+b*2", 17),
        ("2*a - 1", 5),
        ("b//2", 3),
        ("b/2", 3),
        ("b%4", 3),
        ("-a + b", 4),
        ("(a+b)*2", 20),
        ("a", 3),
    ],
)
def test_expressions(text: str, value: int) -> None:
    dimensions = Dimensions(frozenset(["a", "b"]))
    dim = dimensions.named(text)
    values = {
        dimensions.symbol("a"): tvm_api.integer(3),
        dimensions.symbol("b"): tvm_api.integer(7),
    }
    assert tvm_api.as_int(shapes.substitute(dim, values)) == value


@pytest.mark.parametrize("text", ["a-c", "a**b", "a.b", "f(a)", "a +", "3 apples"])
def test_other_names_are_symbols_as_a_whole(text: str) -> None:
    dimensions = Dimensions(frozenset(["a", "b"]))
    assert tvm_api.is_variable(dimensions.named(text))
    assert dimensions.named(text).same_as(dimensions.symbol(text))


def test_expressions_of_inputs(fixes_on: None) -> None:
    agrees(JOINED, [floats(2), floats(5)], [floats(3), floats(7)], sizes={"m": "2*n + 1"})


@pytest.mark.parametrize("keep", [True, False])
def test_initializers_among_the_inputs(keep: bool, fixes_on: None) -> None:
    model = onnx_texts.model_of("f (float[1] x, float[1] w) => (float[1] y) { y = Add (x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.array([2], np.float32), "w"))
    names = [shapes.name_of(each) for each in parameters(model, keep_params_in_input=keep)]
    assert names == (["x", "w"] if keep else ["x"])


def test_shapes_and_dtypes_of_the_caller(fixes_on: None) -> None:
    model = onnx_texts.model_of(JOINED)
    first, second = parameters(
        model, shape_dict={"x": [3]}, dtype_dict={"y": "float16", "x": "float16"}
    )
    assert tvm_api.show_type(tvm_api.type_of(first)) == "float16 (3)"
    assert tvm_api.dtype_of(second) == "float16"


def test_an_unknown_rank_is_warned_of(fixes_on: None) -> None:
    model = onnx_texts.model_of("f (float[n] x) => (float[n] y) { y = Neg (x) }")
    model.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.warns(UserWarning, match="Input x has unknown rank"):
        (parameter,) = parameters(model)
    assert not tvm_api.has_shape(parameter)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (helper.make_tensor_type_proto(TensorProto.STRING, [2]), "input='x', dtype='STRING'"),
        (helper.make_tensor_type_proto(TensorProto.INT4, [2]), "input='x', dtype='INT4'"),
        (
            helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [2])),
            "input='x', type='sequence'",
        ),
        (
            helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [2]),
            "input='x', type='sparse_tensor'",
        ),
    ],
)
def test_refusals_name_the_operator(kind: Any, message: str, fixes_on: None) -> None:
    model = onnx_texts.model_of("f (float[2] x) => (float[2] y) { y = Identity (x) }")
    model.graph.input[0].type.CopyFrom(kind)
    with pytest.raises(
        tvm_api.OpNotImplemented, match=f"(?i)Identity cannot be lowered with {message}"
    ):
        onnx_texts.imported(model)


def test_the_tensor_of_an_optional_is_there(fixes_on: None) -> None:
    model = onnx_texts.model_of("f (float[2] x) => (bool y) { y = OptionalHasElement (x) }")
    kind = model.graph.input[0].type
    kind.CopyFrom(helper.make_optional_type_proto(helper.make_tensor_type_proto(1, [2])))
    run = onnx_texts.compiled(onnx_texts.imported(model))
    assert run(floats(2))[0].tolist() is True


PROGRAMS: whole.Programs = {
    "onnx_inputs": {
        "a dimension of 0": (whole.upstream("onnx_inputs", "a_dimension_of_zero"),),
        "dimensions without names": (whole.upstream("onnx_inputs", "dimensions_without_names"),),
        "a name with a minus": (
            whole.upstream("onnx_inputs", "a_name_with_a_minus"),
            lambda: agrees(JOINED, [floats(2), floats(3)], sizes={"n": "batch-size"}),
        ),
        "initializers among them": (whole.upstream("onnx_inputs", "an_initializer_among_them"),),
    },
}

CURES: whole.Cures = {
    "onnx-nameless-sizes": (("onnx_inputs", "dimensions without names"),),
}
