"""The definitions that ONNX itself gives of operators: functions of simpler ones.

Where the reference has no function of its own, it evaluates the definition. Each step rounds in the
operands' dtype, as an importer that expands the operator would have it; an implementation that
computes the whole at once rounds less.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import onnx
from onnx import defs, helper

from relaxcheck.generators.onnx.model import Node
from relaxcheck.generators.onnx.proto import code_of, node_proto
from relaxcheck.generators.onnx.reading import function_of

Type = tuple[str, tuple[int, ...]]
"""The dtype and shape of an operand."""


@cache
def has_body(operator: str, opset: int) -> bool:
    """True if ONNX defines the version of ``operator`` in ``opset`` by a function."""
    try:
        schema = defs.get_schema(operator, opset)
    except defs.SchemaError:
        return False
    return bool(schema.has_function or schema.has_context_dependent_function)


def body(
    node: Node, opset: int, types: Sequence[Type | None]
) -> tuple[tuple[str, ...], tuple[Node, ...], tuple[str, ...], int]:
    """The inputs, nodes and outputs of the function that defines ``node``, and its opset.

    ``types`` are those of the node's operands, None for one that is left out.
    """
    proto = node_proto(node, opset)
    known = tuple(None if each is None else _type(*each) for each in types)
    return _body(proto.SerializeToString(), opset, known)


def _type(dtype: str, shape: tuple[int, ...]) -> bytes:
    made: bytes = helper.make_tensor_type_proto(code_of(dtype), shape).SerializeToString()
    return made


@cache
def _body(
    serialized: bytes, opset: int, types: tuple[bytes | None, ...]
) -> tuple[tuple[str, ...], tuple[Node, ...], tuple[str, ...], int]:
    node = onnx.NodeProto.FromString(serialized)
    schema = defs.get_schema(node.op_type, opset)
    if schema.has_context_dependent_function:
        stated = [each or onnx.TypeProto().SerializeToString() for each in types]
        made = schema.get_context_dependent_function(serialized, stated)
        function = onnx.FunctionProto.FromString(made)
    else:
        function = schema.function_body
    attributes = {each.name: each for each in node.attribute}
    for name, each in schema.attributes.items():
        if name not in attributes and each.default_value.type:
            attributes[name] = each.default_value
    nodes = tuple(_resolved(each, attributes) for each in function.node)
    own = [each.version for each in function.opset_import if each.domain in ("", "ai.onnx")]
    read = function_of(tuple(function.input), nodes, tuple(function.output))
    return (*read, max(own, default=opset))


def _resolved(node: Any, attributes: Mapping[str, Any]) -> Any:
    """``node`` with the attributes that it takes from the operator."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for each in node.attribute:
        if not each.ref_attr_name:
            copy.attribute.append(each)
        elif each.ref_attr_name in attributes:
            attribute = copy.attribute.add()
            attribute.CopyFrom(attributes[each.ref_attr_name])
            attribute.name = each.name
    return copy
