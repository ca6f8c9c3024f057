"""Attributes of a model as the protobuf has them."""

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

from relaxcheck.generators.onnx.model import Attribute, Model, Node, SparseValue, TypeValue
from relaxcheck.generators.onnx.proto import model_proto


def _proto(operator: str, output: str, **attributes: Attribute) -> onnx.ModelProto:
    node = Node(operator, (), (output,), attributes)
    return model_proto(Model(18, (), (node,), (output,)), {})


def test_a_sparse_tensor_has_its_values_at_its_places() -> None:
    value = SparseValue("float32", (2, 3), (1, 5), (2.5, -1.0))
    proto = _proto("Constant", "y", sparse_value=value)
    onnx.checker.check_model(proto, full_check=True)
    sparse = proto.graph.node[0].attribute[0].sparse_tensor
    assert list(sparse.dims) == [2, 3]
    assert numpy_helper.to_array(sparse.indices).tolist() == [1, 5]
    assert numpy_helper.to_array(sparse.values).tolist() == [2.5, -1.0]
    assert numpy_helper.to_array(sparse.values).dtype == np.float32


def test_a_type_is_a_tensor_or_a_sequence() -> None:
    plain = TypeValue("int64", (2, "N"))
    for value in (plain, TypeValue("int64", (2, "N"), sequence=True)):
        type_proto = _proto("Optional", "y", type=value).graph.node[0].attribute[0].tp
        if value.sequence:
            type_proto = type_proto.sequence_type.elem_type
        tensor = type_proto.tensor_type
        assert tensor.elem_type == onnx.TensorProto.INT64
        assert [dim.dim_value or dim.dim_param for dim in tensor.shape.dim] == [2, "N"]


def test_an_optional_without_an_element_has_none() -> None:
    nodes = (
        Node("Optional", (), ("x",), {"type": TypeValue("float32", (2,))}),
        Node("OptionalHasElement", ("x",), ("y",)),
    )
    proto = model_proto(Model(18, (), nodes, ("y",)), {})
    # ONNX's own evaluator says that there is one.
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    assert session.run(None, {})[0].tolist() is False
