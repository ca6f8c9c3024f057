"""Nodes as source: it makes the node that the model says."""

import numpy as np
import onnx
from onnx import TensorProto, helper

from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.model import (
    INITIALIZER,
    Graph,
    Model,
    Node,
    SparseValue,
    Tensor,
    TensorValue,
    TypeValue,
)
from relaxcheck.generators.onnx.proto import model_proto
from relaxcheck.reports.onnx.model_text import info_source, node_line, node_source, tensor_sources


def _rebuilt(node: Node) -> onnx.NodeProto:
    names = {"helper": helper, "TensorProto": TensorProto, "onnx": onnx, "np": np}
    made: onnx.NodeProto = eval(node_source(node), names)
    return made


def test_a_type_is_written_out() -> None:
    for sequence in (False, True):
        value = TypeValue("float16", (2, "N"), sequence)
        node = Node("Optional", (), ("y",), {"type": value})
        proto = model_proto(Model(18, (), (node,), ("y",)), {})
        assert proto.graph.node[0].attribute[0].tp == _rebuilt(node).attribute[0].tp


def test_a_sparse_tensor_is_written_out() -> None:
    value = SparseValue("float32", (2, 3), (1, 5), (2.5, -1.0))
    node = Node("Constant", (), ("y",), {"sparse_value": value})
    sparse = _rebuilt(node).attribute[0].sparse_tensor
    assert list(sparse.dims) == [2, 3]
    assert onnx.numpy_helper.to_array(sparse.values).tolist() == [2.5, -1.0]
    assert onnx.numpy_helper.to_array(sparse.indices).tolist() == [1, 5]
    assert node_line(node) == "y = Constant(sparse_value=sparse float32{1: 2.5, 5: -1.0})"


def test_the_types_of_a_graph_are_written_out() -> None:
    body = Graph(
        (Tensor("a", (2,), "float32"),),
        (Node("Identity", ("a",), ("b",)),),
        ("b",),
        (TypeValue("float32", (2,)),),
    )
    made = _rebuilt(Node("SequenceMap", ("s",), ("y",), {"body": body})).attribute[0].g
    assert made.output[0].name == "b"
    assert made.output[0].type.tensor_type.elem_type == TensorProto.FLOAT
    plain = Graph(body.inputs, body.nodes, body.outputs)
    made = _rebuilt(Node("SequenceMap", ("s",), ("y",), {"body": plain})).attribute[0].g
    assert made.output[0].type.WhichOneof("value") is None


def test_a_tensor_is_written_out() -> None:
    value = TensorValue("int64", (2,), (3, -1))
    tensor = _rebuilt(Node("Constant", (), ("y",), {"value": value})).attribute[0].t
    assert onnx.numpy_helper.to_array(tensor).tolist() == [3, -1]


def test_infinities_and_nan_are_numbers_of_the_script() -> None:
    value = TensorValue("float32", (3,), (1.5, "-inf", "nan"))
    tensor = _rebuilt(Node("Constant", (), ("y",), {"value": value})).attribute[0].t
    assert list(map(str, onnx.numpy_helper.to_array(tensor))) == ["1.5", "-inf", "nan"]


def test_initializers_are_inputs_of_old_models_as_in_the_model_itself() -> None:
    tensors = (Tensor("x", (2,), "float32"), Tensor("w", (2,), "float32", held=INITIALIZER))
    values = {"w": np.ones(2, np.float32)}
    for opset, listed in ((8, ["x", "w"]), (9, ["x"])):
        model = Model(opset, tensors, (Node("Add", ("x", "w"), ("y",)),), ("y",))
        sources = tensor_sources(OnnxCase("onnx-Add", model), values)
        assert [each.name for each in model_proto(model, values).graph.input] == listed
        assert sources["inputs"] == [info_source(model.tensor(name)) for name in listed]
