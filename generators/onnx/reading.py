"""Read the protobuf of an ONNX model as data: the inverse of ``generators.onnx.proto``."""

import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from types import MappingProxyType

import numpy as np
import onnx
from onnx import AttributeProto, numpy_helper

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.generators.onnx.model import (
    INITIALIZER,
    INPUT,
    NAMELESS,
    NODE,
    RANKLESS,
    STATED,
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
from relaxcheck.generators.onnx.proto import dtype_of

Shapes = Mapping[str, tuple[int, ...]]

_NONE: Shapes = MappingProxyType({})

_OWN = ("", "ai.onnx")
"""The names of ONNX's own domain."""

_OTHER_VERSION = 1
"""The version in which ``generators.onnx.proto`` imports every other domain."""


class Unreadable(ValueError):
    """A model says what the data cannot hold; the message names it."""


def model_of(proto: onnx.ModelProto, shapes: Shapes = _NONE) -> tuple[Model, dict[str, Array]]:
    """``proto`` as data, and the values of its constants by name.

    ``shapes`` are those of inputs that state none: the data have every rank. A ``Constant`` node of
    the main graph whose attribute is a tensor is a constant; every other one remains a node.

    Raises:
        Unreadable: a value is no tensor, an attribute of an unknown type, an import of an unknown
            version, or the graph is not in evaluation order.
    """
    graph = proto.graph
    constants = {each.name: _array(each) for each in graph.initializer}
    if graph.sparse_initializer:
        raise Unreadable("a sparse initializer")
    opset = _opset(proto)
    tensors = [
        _input(each, shapes.get(each.name)) for each in graph.input if each.name not in constants
    ]
    tensors += [_constant(name, INITIALIZER, array) for name, array in constants.items()]
    nodes = []
    for each in graph.node:
        value = _held(each)
        if value is None:
            nodes.append(_node(each))
        else:
            name = each.output[0]
            constants[name] = _array(value)
            tensors.append(_constant(name, NODE, constants[name]))
    try:
        model = Model(
            opset,
            tuple(tensors),
            tuple(nodes),
            tuple(each.name for each in graph.output),
            tuple(_function(each, opset) for each in proto.functions),
        )
    except ValueError as error:
        raise Unreadable(str(error)) from error
    return model, constants


def function_of(
    inputs: tuple[str, ...], nodes: Iterable[onnx.NodeProto], outputs: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[Node, ...], tuple[str, ...]]:
    """The inputs, nodes and outputs of a function that refers to no attributes, as data."""
    return inputs, tuple(map(_node, nodes)), outputs


def _opset(proto: onnx.ModelProto) -> int:
    versions = {each.domain: int(each.version) for each in proto.opset_import}
    own = [versions.pop(domain) for domain in _OWN if domain in versions]
    functions = {each.domain for each in proto.functions}
    for domain, version in versions.items():
        if version != _OTHER_VERSION and domain not in functions:
            raise Unreadable(f"version {version} of the domain {domain}")
    if not own:
        raise Unreadable("no version of ONNX's own operators is imported")
    return own[0]


def _node(proto: onnx.NodeProto) -> Node:
    return Node(
        proto.op_type,
        tuple(proto.input),
        tuple(proto.output),
        {each.name: _attribute(each) for each in proto.attribute},
        "" if proto.domain in _OWN else proto.domain,
    )


def _function(proto: onnx.FunctionProto, opset: int) -> Function:
    if proto.attribute or proto.attribute_proto:
        raise Unreadable(f"the function {proto.name} has attributes")
    if any(each.domain in _OWN and each.version != opset for each in proto.opset_import):
        raise Unreadable(f"the function {proto.name} has an opset of its own")
    return Function(
        proto.name,
        proto.domain,
        tuple(proto.input),
        tuple(map(_node, proto.node)),
        tuple(proto.output),
    )


def _graph(proto: onnx.GraphProto) -> Graph:
    made = [
        Node("Constant", (), (each.name,), {"value": _value(each)}) for each in proto.initializer
    ]
    inputs = tuple(_input(each, ()) for each in proto.input)
    nodes = (*made, *map(_node, proto.node))
    types = tuple(map(_output_type, proto.output))
    outputs = tuple(each.name for each in proto.output)
    stated = tuple(each for each in types if each is not None)
    return Graph(inputs, nodes, outputs, stated if len(stated) == len(types) else ())


def _attribute(proto: onnx.AttributeProto) -> Attribute:
    if proto.ref_attr_name:
        raise Unreadable(f"the attribute {proto.name} refers to one of a function")
    match proto.type:
        case AttributeProto.FLOAT:
            return float(proto.f)
        case AttributeProto.INT:
            return int(proto.i)
        case AttributeProto.STRING:
            return _text(proto.s)
        case AttributeProto.TENSOR:
            return _value(proto.t)
        case AttributeProto.GRAPH:
            return _graph(proto.g)
        case AttributeProto.SPARSE_TENSOR:
            return _sparse(proto.sparse_tensor)
        case AttributeProto.TYPE_PROTO:
            return _type(proto.tp)
        case AttributeProto.FLOATS:
            return tuple(map(float, proto.floats))
        case AttributeProto.INTS:
            return tuple(map(int, proto.ints))
        case AttributeProto.STRINGS:
            return tuple(map(_text, proto.strings))
    kind = AttributeProto.AttributeType.Name(proto.type)
    raise Unreadable(f"the attribute {proto.name} is of type {kind}")


def _sparse(proto: onnx.SparseTensorProto) -> SparseValue:
    """A sparse tensor; places of several numbers become ones in row-major order."""
    places, shape = numpy_helper.to_array(proto.indices), tuple(map(int, proto.dims))
    if places.ndim > 1:
        places = np.ravel_multi_index(tuple(places.T), shape)
    held = _value(proto.values)
    return SparseValue(held.dtype, shape, tuple(map(int, places)), held.values)  # type: ignore[arg-type]


def _type(proto: onnx.TypeProto) -> TypeValue:
    """A type. Raises ``Unreadable`` unless it is of tensors whose shape it states."""
    inner = proto.sequence_type.elem_type if proto.HasField("sequence_type") else proto
    tensor = inner.tensor_type
    if not inner.HasField("tensor_type") or not tensor.HasField("shape"):
        raise Unreadable("a type of no tensor, or without a shape")
    shape = tuple(_dims("any", tensor.shape.dim))
    return TypeValue(dtype_of(tensor.elem_type), shape, inner is not proto)


def _output_type(value: onnx.ValueInfoProto) -> TypeValue | None:
    """The type of a graph's output; None where it is not stated in full."""
    try:
        return _type(value.type)
    except Unreadable:
        return None


def _held(node: onnx.NodeProto) -> onnx.TensorProto | None:
    """The tensor that ``node`` makes, where it is a ``Constant`` of one."""
    if node.op_type != "Constant" or node.domain not in _OWN:
        return None
    return next((each.t for each in node.attribute if each.name == "value"), None)


def _constant(name: str, held: str, array: Array) -> Tensor:
    dtype = "string" if array.dtype == object else array.dtype.name
    return Tensor(name, array.shape, dtype, held)


def _input(value: onnx.ValueInfoProto, shape: tuple[int, ...] | None) -> Tensor:
    """An input; ``shape`` is the one to hold where ``value`` states none."""
    kind = value.type.WhichOneof("value")
    if kind not in ("tensor_type", None):
        raise Unreadable(f"the input {value.name} is a {kind.removesuffix('_type')}")
    tensor = value.type.tensor_type
    # Bodies need not state the types of their inputs; the nodes around them do.
    dtype = dtype_of(tensor.elem_type) if tensor.elem_type else "float32"
    if not tensor.HasField("shape"):
        if shape is None:
            raise Unreadable(f"the input {value.name} states no shape: pass one")
        return Tensor(value.name, shape, dtype, INPUT, RANKLESS)
    names = [each.dim_param for each in tensor.shape.dim if not each.HasField("dim_value")]
    states = NAMELESS if names and not any(names) else STATED
    return Tensor(value.name, tuple(_dims(value.name, tensor.shape.dim)), dtype, INPUT, states)


def _dims(name: str, dims: Sequence[onnx.TensorShapeProto.Dimension]) -> Iterator[Dim]:
    for at, each in enumerate(dims):
        if each.HasField("dim_value"):
            yield int(each.dim_value)
        else:
            yield _symbol(each.dim_param or f"{name}_{at}")


def _symbol(text: str) -> str:
    """``text`` as the name of a symbol: an identifier."""
    name = "".join(each if each.isascii() and each.isalnum() else "_" for each in text)
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
        name = f"d{name}"
    return name


def _array(proto: onnx.TensorProto) -> Array:
    dtype = dtype_of(proto.data_type)
    array: Array = np.asarray(numpy_helper.to_array(proto))
    if dtype == "string":
        return np.vectorize(_text, otypes=[object])(array) if array.size else array.astype(object)
    return array.astype(numpy_dtype(dtype), copy=False)


def _value(proto: onnx.TensorProto) -> TensorValue:
    array, dtype = _array(proto), dtype_of(proto.data_type)
    if array.dtype.kind == "c":
        raise Unreadable(f"the attribute tensor {proto.name} is complex")
    if dtype == "string":
        return TensorValue(dtype, array.shape, tuple(array.ravel().tolist()))
    if array.dtype.kind in "iub" or dtype.startswith(("int", "uint")):
        whole = array.ravel() if array.dtype.kind == "b" else array.ravel().astype(object)
        return TensorValue(dtype, array.shape, tuple(_whole(whole.tolist())))
    numbers = array.astype(np.float64).ravel().tolist()
    written = tuple(each if isfinite(each) else str(each) for each in numbers)
    return TensorValue(dtype, array.shape, written)


def _whole(values: Iterable[object]) -> Iterator[bool | int]:
    for each in values:
        yield each if isinstance(each, bool) else int(each)  # type: ignore[call-overload]


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
