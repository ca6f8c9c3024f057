"""ONNX models as the protobuf that importers and ONNX Runtime read."""

from collections.abc import Mapping
from functools import cache
from itertools import zip_longest
from typing import Any

import numpy as np
import onnx
import onnx.shape_inference
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.generators.onnx.model import (
    INITIALIZER,
    NAMELESS,
    NODE,
    RANKLESS,
    Attribute,
    Function,
    Graph,
    Model,
    Node,
    SparseValue,
    Tensor,
    TensorValue,
    TypeValue,
)
from relaxcheck.generators.onnx.walk import nodes_of

_CODES = {
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "float8_e4m3fn": "FLOAT8E4M3FN",
    "float8_e4m3fnuz": "FLOAT8E4M3FNUZ",
    "float8_e5m2": "FLOAT8E5M2",
    "float8_e5m2fnuz": "FLOAT8E5M2FNUZ",
    "float8_e8m0fnu": "FLOAT8E8M0",
    "float4_e2m1fn": "FLOAT4E2M1",
}


_INITIALIZERS_ALONE = 4
"""The first IR version in which a graph's inputs need not list its initializers."""


def code_of(dtype: str) -> int:
    """ONNX's number for ``dtype``, one of ``generators.onnx.model.DTYPES``."""
    number: int = getattr(TensorProto, code_name(dtype))
    return number


def code_name(dtype: str) -> str:
    """The name of ``dtype`` in ONNX's ``TensorProto``."""
    return _CODES.get(dtype, dtype.upper())


@cache
def dtype_of(code: int) -> str:
    """The name of the dtype that ONNX numbers ``code``."""
    name: str = TensorProto.DataType.Name(code)
    names = {onnx_name: dtype for dtype, onnx_name in _CODES.items()}
    return names.get(name, name.lower())


def ir_version(opset: int) -> int:
    """The oldest IR version that ONNX released with ``opset``."""
    version: int = helper.find_min_ir_version_for([helper.make_opsetid("", opset)], True)
    return version


def listed_inputs(model: Model) -> tuple[Tensor, ...]:
    """The tensors that the graph of ``model`` lists as its inputs.

    Before IR version 4 initializers are inputs as well: defaults that a caller may replace.
    """
    alone = _ir_version_of(model) >= _INITIALIZERS_ALONE
    return model.inputs if alone else tuple(t for t in model.tensors if t.held != NODE)


def _ir_version_of(model: Model) -> int:
    return max(ir_version(model.opset), 8 if model.functions else 0)


def model_proto(model: Model, constants: Mapping[str, Array]) -> onnx.ModelProto:
    """``model`` with the values of its ``constants``, by name.

    Outputs have the types that ONNX's inference finds: exporters write them, and the checker wants
    them.
    """
    functions = [_function(function, model.opset) for function in model.functions]
    domains = dict.fromkeys(node.domain for node in nodes_of(model) if node.domain)
    imports = [helper.make_opsetid("", model.opset)]
    imports += [helper.make_opsetid(domain, 1) for domain in domains]
    graph = helper.make_graph(
        [
            *(_constant(t, constants[t.name]) for t in model.tensors if t.held == NODE),
            *(node_proto(node, model.opset) for node in model.nodes),
        ],
        "graph",
        [_described(tensor) for tensor in listed_inputs(model)],
        [_untyped(name) for name in model.outputs],
        [
            tensor_proto(constants[tensor.name], tensor.dtype, tensor.name)
            for tensor in model.tensors
            if tensor.held == INITIALIZER
        ],
    )
    proto: onnx.ModelProto = helper.make_model(
        graph,
        opset_imports=imports,
        functions=functions,
        ir_version=_ir_version_of(model),
    )
    _type_outputs(proto)
    return proto


def _type_outputs(proto: onnx.ModelProto) -> None:
    """Give each output of ``proto`` the type that inference finds."""
    try:
        inferred = onnx.shape_inference.infer_shapes(proto)
    except onnx.shape_inference.InferenceError:
        # The model is invalid; whoever reads it says so.
        return
    types = {each.name: each.type for each in inferred.graph.output}
    for output in proto.graph.output:
        kind = types.get(output.name)
        if kind is not None and kind.WhichOneof("value"):
            output.type.CopyFrom(kind)


def tensor_proto(array: Array, dtype: str, name: str = "") -> onnx.TensorProto:
    """``array`` as a tensor of ``dtype``."""
    if dtype == "string":
        return helper.make_tensor(name, TensorProto.STRING, array.shape, list(array.ravel()))
    proto: onnx.TensorProto = numpy_helper.from_array(np.asarray(array), name)
    return proto


def value_array(value: TensorValue) -> Array:
    """The array that ``value`` writes out."""
    if value.dtype == "string":
        return np.array(list(value.values), object).reshape(value.shape)
    numbers = [float(each) if isinstance(each, str) else each for each in value.values]
    wide = np.array(numbers, None if numbers else np.float64)
    return wide.astype(numpy_dtype(value.dtype)).reshape(value.shape)


def _constant(tensor: Tensor, array: Array) -> onnx.NodeProto:
    value = tensor_proto(array, tensor.dtype, tensor.name)
    return helper.make_node("Constant", [], [tensor.name], value=value)


def node_proto(node: Node, opset: int) -> onnx.NodeProto:
    """``node``, whose attributes have the types that the schema in ``opset`` states."""
    proto = helper.make_node(
        node.operator, list(node.inputs), list(node.outputs), domain=node.domain or None
    )
    for name, value in node.attributes.items():
        proto.attribute.append(_attribute(node, name, value, opset))
    return proto


def _attribute(node: Node, name: str, value: Attribute, opset: int) -> onnx.AttributeProto:
    match value:
        case TensorValue():
            array = value_array(value)
            return helper.make_attribute(name, tensor_proto(array, value.dtype, name))
        case SparseValue():
            return helper.make_attribute(name, _sparse(value))
        case TypeValue():
            return helper.make_attribute(name, _type_proto(value))
        case Graph():
            return helper.make_attribute(name, _graph(value, opset))
        case tuple() if not value:
            return helper.make_attribute(name, [], attr_type=_type(node, name, opset))
        case float():
            return helper.make_attribute(name, value, attr_type=AttributeProto.FLOAT)
    return helper.make_attribute(name, list(value) if isinstance(value, tuple) else value)


def _sparse(value: SparseValue) -> onnx.SparseTensorProto:
    array = value_array(TensorValue(value.dtype, (len(value.values),), value.values))
    places = numpy_helper.from_array(np.array(value.places, np.int64))
    held = tensor_proto(array, value.dtype)
    return helper.make_sparse_tensor(held, places, list(value.shape))


def _type_proto(value: TypeValue) -> onnx.TypeProto:
    tensor: onnx.TypeProto = helper.make_tensor_type_proto(code_of(value.dtype), value.shape)
    return helper.make_sequence_type_proto(tensor) if value.sequence else tensor


def _type(node: Node, name: str, opset: int) -> Any:
    """The type of an attribute that is an empty list: what the schema says, else integers."""
    try:
        schema = onnx.defs.get_schema(node.operator, opset, node.domain)
        return int(schema.attributes[name].type.value)
    except (onnx.defs.SchemaError, KeyError):
        return AttributeProto.INTS


def _graph(graph: Graph, opset: int) -> onnx.GraphProto:
    return helper.make_graph(
        [node_proto(node, opset) for node in graph.nodes],
        "body",
        [_described(tensor) for tensor in graph.inputs],
        [
            onnx.ValueInfoProto(name=name, type=_type_proto(kind)) if kind else _untyped(name)
            for name, kind in zip_longest(graph.outputs, graph.types)
        ],
    )


def _function(function: Function, opset: int) -> onnx.FunctionProto:
    return helper.make_function(
        function.domain,
        function.name,
        list(function.inputs),
        list(function.outputs),
        [node_proto(node, opset) for node in function.nodes],
        [helper.make_opsetid("", opset)],
    )


def _described(tensor: Tensor) -> onnx.ValueInfoProto:
    """The description of a graph input."""
    code = code_of(tensor.dtype)
    if tensor.states == RANKLESS:
        return helper.make_tensor_value_info(tensor.name, code, None)
    hidden = tensor.states == NAMELESS
    shape = [None if hidden and isinstance(dim, str) else dim for dim in tensor.shape]
    return helper.make_tensor_value_info(tensor.name, code, shape)


def _untyped(name: str) -> onnx.ValueInfoProto:
    return onnx.ValueInfoProto(name=name)
