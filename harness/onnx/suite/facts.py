"""Facts about the model of a test, by which declared failures select it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import onnx

from relaxcheck.harness.onnx.suite.tests import SuiteTest, nodes

_DATA = (
    *(onnx.AttributeProto.INT, onnx.AttributeProto.FLOAT, onnx.AttributeProto.STRING),
    *(onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS),
)
"""The types of attributes that are plain data."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A node: its operator, attributes, inputs that no constant feeds, outputs that are wanted.

    Inputs and outputs are named as in the operator's schema; variadic ones share a name.
    """

    operator: str
    attributes: dict[str, Any]
    at_run_time: frozenset[str]
    outputs: frozenset[str]


@cache
def facts(test: SuiteTest) -> tuple[Facts, ...]:
    """The facts about each node of the model of ``test``, those of branches too."""
    return tuple(_read(test.model))


@cache
def dtypes(test: SuiteTest) -> frozenset[str]:
    """The dtypes of inputs and outputs of the model of ``test``: ONNX's names in lower case."""
    graph = test.model.graph
    return frozenset(
        onnx.TensorProto.DataType.Name(_element(each.type)).lower()
        for each in (*graph.input, *graph.output)
    )


def _element(type_: Any) -> int:
    """The dtype of the tensors of ``type_``, also of those in a sequence or an optional."""
    match type_.WhichOneof("value"):
        case "sequence_type":
            return _element(type_.sequence_type.elem_type)
        case "optional_type":
            return _element(type_.optional_type.elem_type)
    return int(type_.tensor_type.elem_type)


def _read(model: Any) -> Iterator[Facts]:
    every = list(nodes(model.graph))
    constant = {each.name for each in model.graph.initializer}
    constant |= {name for node in every if node.op_type == "Constant" for name in node.output}
    versions = {each.domain: each.version for each in model.opset_import}
    for node in every:
        inputs, outputs = _parameters(node, versions.get(node.domain, 0))
        yield Facts(
            ".".join(filter(None, (node.domain, node.op_type))),
            {each.name: _value(each) for each in node.attribute if each.type in _DATA},
            frozenset(
                inputs[min(at, len(inputs) - 1)]
                for at, name in enumerate(node.input)
                if inputs and name and name not in constant
            ),
            frozenset(
                outputs[min(at, len(outputs) - 1)]
                for at, name in enumerate(node.output)
                if outputs and name
            ),
        )


def _parameters(node: Any, version: int) -> tuple[list[str], list[str]]:
    """The names of inputs and of outputs in the schema of ``node``; none without a schema."""
    try:
        schema = onnx.defs.get_schema(node.op_type, version, node.domain)
    except onnx.defs.SchemaError:
        return [], []
    return [each.name for each in schema.inputs], [each.name for each in schema.outputs]


def _value(attribute: Any) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    match value:
        case bytes():
            return value.decode(errors="replace")
        case int() | float():
            return value
    return list(value)
