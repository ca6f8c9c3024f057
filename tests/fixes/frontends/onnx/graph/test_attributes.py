"""Attributes in every form, and constants."""

import numpy as np
import pytest
from onnx import helper, numpy_helper

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.frontends.onnx import probing
from relaxcheck.fixes.frontends.onnx.graph import attributes
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees


def constant(**value: object) -> object:
    """A model that returns a Constant."""
    model = onnx_texts.model_of("f () => (float y) { y = Constant <value_int = 0> () }")
    model.graph.node[0].CopyFrom(helper.make_node("Constant", [], ["y"], **value))
    model.graph.output[0].type.Clear()
    return model


def value_of(model: object) -> object:
    return onnx_texts.compiled(onnx_texts.imported(model))()[0]


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("value_int", 3), ("value_ints", [3, -2]), ("value_float", 0.1), ("value_floats", [0.1, -2])],
)
def test_numbers(attribute: str, value: object, fixes_on: None) -> None:
    expected = np.array(value, np.int64 if "int" in attribute else np.float32)
    result = value_of(constant(**{attribute: value}))
    assert isinstance(result, np.ndarray)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("flat", [True, False])
def test_a_sparse_tensor(flat: bool, fixes_on: None) -> None:
    places = np.array([1, 5]) if flat else np.array([[0, 1], [1, 2]])
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([7, 8], np.float32), "values"),
        numpy_helper.from_array(places, "places"),
        [2, 3],
    )
    expected = np.array([[0, 7, 0], [0, 0, 8]], np.float32)
    np.testing.assert_array_equal(value_of(constant(sparse_value=sparse)), expected)


@pytest.mark.parametrize(("attribute", "value"), [("value_string", "a"), ("value_strings", ["a"])])
def test_text_is_refused(attribute: str, value: object, fixes_on: None) -> None:
    with pytest.raises(tvm_api.OpNotImplemented, match=f"Constant .* with {attribute}='text'"):
        onnx_texts.imported(constant(**{attribute: value}))


def test_zero_points_of_two_bits(fixes_on: None) -> None:
    """Constants are held in 8 bits, as initializers are."""
    info = helper.make_tensor_value_info
    constants = {
        name: helper.make_tensor(name, kind, shape, values)
        for name, kind, shape, values in (
            ("q", helper.TensorProto.INT2, [2], [1, -2]),
            ("scale", helper.TensorProto.FLOAT, [], [0.5]),
            ("zero", helper.TensorProto.INT2, [], [1]),
        )
    }
    nodes = [helper.make_node("Constant", [], [n], value=each) for n, each in constants.items()]
    nodes.append(helper.make_node("DequantizeLinear", [*constants], ["d"]))
    nodes.append(helper.make_node("Add", ["x", "d"], ["y"]))
    ends = [[info(name, helper.TensorProto.FLOAT, [2])] for name in "xy"]
    graph = helper.make_graph(nodes, "graph", *ends)
    imports = [helper.make_opsetid("", 25)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=11)
    (result,) = probing.outputs(model, np.zeros(2, "float32"))
    np.testing.assert_array_equal(result, np.array([0, -1.5], "float32"))


def test_packed_numbers_are_refused(fixes_on: None) -> None:
    tensor = helper.make_tensor("value", helper.TensorProto.INT4, [2], [1, 2])
    with pytest.raises(tvm_api.OpNotImplemented, match=r"Constant .* dtype='INT4'"):
        onnx_texts.imported(constant(value=tensor))


def test_values_of_every_type() -> None:
    graph = onnx_texts.model_of("f () => (float y) { y = Constant <value_int = 0> () }").graph
    wanted = {
        "i": 0,
        "f": 0.5,
        "s": b"x",
        "is": (1, 2),
        "fs": (0.5,),
        "ss": (b"x", b"y"),
        "g": graph,
    }
    made = [
        helper.make_attribute(name, list(value) if isinstance(value, tuple) else value)
        for name, value in wanted.items()
    ]
    assert attributes.parse_attr(None, made) == wanted
    for attribute in made:
        # As models of old say it.
        attribute.ClearField("type")
    assert attributes.parse_attr(None, made) == wanted


def test_empty_lists_and_none() -> None:
    attribute = helper.make_attribute("axes", [1])
    del attribute.ints[:]
    assert attributes.parse_attr(None, [attribute]) == {"axes": ()}
    attribute.ClearField("type")
    with pytest.raises(ValueError, match="axes has neither a type nor a value"):
        attributes.parse_attr(None, [attribute])


PROGRAMS: whole.Programs = {
    "onnx_attributes": {
        "a constant of integers": (
            whole.upstream("onnx_attributes", "constants"),
            lambda: agrees("f () => (int64[2] y) { y = Constant <value_ints = [3, 4]> () }"),
        ),
        "an empty list": (whole.upstream("onnx_attributes", "an_empty_list"),),
    },
}

CURES: whole.Cures = {
    "onnx-constant-integers": (("onnx_attributes", "a constant of integers"),),
}
