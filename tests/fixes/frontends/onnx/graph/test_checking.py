"""Nodes that break their schemas are refused by name; those that only look odd are imported."""

import pytest
from onnx import TensorProto, helper

from tests.fixes import onnx_texts


def message_of(text: str, opset: int = 18) -> str:
    with pytest.raises(ValueError, match="is invalid") as caught:
        onnx_texts.imported(onnx_texts.model_of(text, opset))
    return str(caught.value)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ("y = Relu <no_such_attribute = 1> (x)", ("Relu", "no_such_attribute")),
        ("y = Concat (x, x)", ("Concat", "axis=None")),
        ("y = Add (x)", ("Add", "B=None")),
        ("y = Add (x, x, x)", ("Add", "inputs=3", "at most 2")),
        ("y = Add (x, b)", ("Add", "B='bool'", "as T")),
        ("y = Pow (x, b)", ("Pow", "Y='bool'", "T1")),
        ("y = Sum (x, x, i)", ("Sum", "int64", "as T")),
        ("y = Div (x, d)", ("Div", "float64", "dtype float32")),
        ("y = Greater (d, x)", ("Greater", "float32", "dtype float64")),
        ("y = GreaterOrEqual (u, w)", ("GreaterOrEqual", "uint64", "dtype uint32")),
        ("y = Less (i, j)", ("Less", "int32", "dtype int64")),
        ("y = Equal (j, i)", ("Equal", "int64", "dtype int32")),
        ("y = Max (x, x, i)", ("Max", "int64", "float32")),
    ],
)
def test_invalid_nodes_are_refused(node: str, words: tuple[str, ...], fixes_on: None) -> None:
    inputs = "float[2] x, bool[2] b, int64[2] i, double[2] d, uint32[2] u, uint64[2] w, int32[2] j"
    text = f"f ({inputs}) => (float[2] y) {{ {node} }}"
    message = message_of(text)
    assert all(word in message for word in words)


def test_a_node_is_held_to_the_version_in_force(fixes_on: None) -> None:
    text = "f (float[2, 3] x) => (float[3] y) { y = Squeeze <axes = [0]> (x) }"
    assert "axes" in message_of(text.replace("[2, 3]", "[1, 3]"), 13)
    onnx_texts.imported(onnx_texts.model_of(text.replace("[2, 3]", "[1, 3]"), 11))


def test_nodes_in_branches_are_held_to_their_schemas(fixes_on: None) -> None:
    text = """f (bool c, float[2] x) => (float[2] y) {
        y = If (c) <
            then_branch = g () => (float[2] t) { t = Relu <odd = 1> (x) },
            else_branch = h () => (float[2] e) { e = Neg (x) }
        >
    }"""
    assert "odd" in message_of(text)


def test_operands_that_share_no_type_parameter_may_differ(fixes_on: None) -> None:
    text = "f (float[2] x, int64[2] i) => (float[2] y) { y = Pow (x, i) }"
    assert onnx_texts.imported(onnx_texts.model_of(text))


def test_a_left_out_input_that_is_optional_is_none_that_is_missing(fixes_on: None) -> None:
    text = "f (float[2] x, float m) => (float[2] y) { y = Clip (x, , m) }"
    assert onnx_texts.imported(onnx_texts.model_of(text))


def test_an_optional_without_an_element_has_no_type_to_hold(fixes_on: None) -> None:
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    model = onnx_texts.model_of("f (float[2] x) => (bool y) { y = OptionalHasElement (x) }")
    model.graph.node.insert(0, helper.make_node("Optional", [], ["none"], type=kind))
    model.graph.node[1].input[0] = "none"
    assert onnx_texts.imported(model)


@pytest.mark.parametrize("operator", ["Less", "GreaterOrEqual", "Equal"])
def test_a_comparison_of_constants_is_a_truth_value(operator: str, fixes_on: None) -> None:
    # More than the importer evaluates by itself, element by element.
    text = f"""f (float x) => (float[9, 9] y) <
        int64[9, 1] a = {{0, 1, 2, 3, 4, 5, 6, 7, 8}},
        int64[9] b = {{8, 7, 6, 5, 4, 3, 2, 1, 0}}
    > {{
        c = {operator} (a, b)
        y = Where (c, x, x)
    }}"""
    assert onnx_texts.imported(onnx_texts.model_of(text))
