"""A model in lines, and as calls of ``onnx.helper``."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.model import (
    NODE,
    RANKLESS,
    STATED,
    Attribute,
    Graph,
    Model,
    Node,
    SparseValue,
    Tensor,
    TensorValue,
    TypeValue,
)
from relaxcheck.generators.onnx.proto import code_name, listed_inputs

_LONGEST = 96


def model_lines(model: Model) -> Iterator[str]:
    """A line for each tensor, node and the outputs of ``model``."""
    yield f"opset {model.opset}"
    for tensor in model.tensors:
        dims = ", ".join(map(str, tensor.shape))
        how = "" if not tensor.constant else f" {tensor.held}"
        stated = "" if tensor.states == STATED else f" ({tensor.states})"
        yield f"{tensor.name}: {tensor.dtype}[{dims}]{how}{stated}"
    for node in model.nodes:
        yield node_line(node)
    yield f"return {', '.join(model.outputs)}"


def node_line(node: Node) -> str:
    """``y = Softmax(x, axis=1)``."""
    settings = [f"{name}={_short(value)}" for name, value in node.attributes.items()]
    operands = [name or "-" for name in node.inputs]
    domain = f"{node.domain}." if node.domain else ""
    call = f"{domain}{node.operator}({', '.join((*operands, *settings))})"
    return f"{', '.join(name or '-' for name in node.outputs)} = {call}"


def _short(value: Attribute) -> str:
    match value:
        case TensorValue():
            return f"{value.dtype}{list(value.values)}"
        case SparseValue():
            return f"sparse {value.dtype}{dict(zip(value.places, value.values, strict=True))}"
        case TypeValue():
            text = f"{value.dtype}[{', '.join(map(str, value.shape))}]"
            return f"sequence of {text}" if value.sequence else text
        case Graph():
            return f"{{{'; '.join(map(node_line, value.nodes))}; {', '.join(value.outputs)}}}"
        case tuple():
            return str(list(value))
    return repr(value)


def node_source(node: Node, indent: str = "    ") -> str:
    """``helper.make_node(…)``."""
    parts = [repr(node.operator), repr(list(node.inputs)), repr(list(node.outputs))]
    if node.domain:
        parts.append(f"domain={node.domain!r}")
    parts += [f"{name}={_source(value)}" for name, value in node.attributes.items()]
    line = f"helper.make_node({', '.join(parts)})"
    if len(line) + len(indent) <= _LONGEST:
        return line
    inner = "".join(f"{indent}    {part},\n" for part in parts)
    return f"helper.make_node(\n{inner}{indent})"


def _source(value: Attribute) -> str:
    match value:
        case TensorValue():
            code = f"TensorProto.{code_name(value.dtype)}"
            # Without its quotes an infinity would be a name that the script lacks.
            values = ", ".join(
                f"float({each!r})"
                if isinstance(each, str) and value.dtype != "string"
                else repr(each)
                for each in value.values
            )
            return f"helper.make_tensor('value', {code}, {list(value.shape)}, [{values}])"
        case SparseValue():
            code = f"TensorProto.{code_name(value.dtype)}"
            count, places = len(value.values), list(value.places)
            return (
                f"helper.make_sparse_tensor("
                f"helper.make_tensor('values', {code}, [{count}], {list(value.values)}), "
                f"helper.make_tensor('indices', TensorProto.INT64, [{count}], {places}), "
                f"{list(value.shape)})"
            )
        case TypeValue():
            code = f"TensorProto.{code_name(value.dtype)}"
            tensor = f"helper.make_tensor_type_proto({code}, {list(value.shape)})"
            return f"helper.make_sequence_type_proto({tensor})" if value.sequence else tensor
        case Graph():
            nodes = ", ".join(node_source(node, "") for node in value.nodes)
            inputs = ", ".join(map(info_source, value.inputs))
            outputs = ", ".join(
                f"onnx.ValueInfoProto(name={name!r}{f', type={_source(kind)}' if kind else ''})"
                for name, kind in zip_longest(value.outputs, value.types)
            )
            return f"helper.make_graph([{nodes}], 'body', [{inputs}], [{outputs}])"
        case tuple():
            return repr(list(value))
    return repr(value)


def info_source(tensor: Tensor) -> str:
    """``helper.make_tensor_value_info(…)``."""
    hidden = tensor.states != STATED
    shape: Any = [None if hidden and isinstance(dim, str) else dim for dim in tensor.shape]
    if tensor.states == RANKLESS:
        shape = None
    code = f"TensorProto.{code_name(tensor.dtype)}"
    return f"helper.make_tensor_value_info({tensor.name!r}, {code}, {shape})"


def array_source(array: Array) -> str:
    """``np.array(…)`` with every element of ``array`` written out."""
    if array.dtype.kind == "V" or array.dtype.name not in np.sctypeDict:
        name = f"ml_dtypes.{array.dtype.name}"
        wide = array.astype(np.float64)
    else:
        name = repr(array.dtype.name)
        wide = array
    values = _listed(wide.tolist())
    line = f"np.array({values}, {name})"
    return line if array.size else f"np.zeros({list(array.shape)}, {name})"


def _listed(values: Any) -> str:
    """``values`` as Python's source; NaN and infinities as NumPy writes them."""
    if isinstance(values, list):
        return f"[{', '.join(map(_listed, values))}]"
    if isinstance(values, float) and values != values:
        return "np.nan"
    if values in (float("inf"), float("-inf")):
        return "np.inf" if values > 0 else "-np.inf"
    return repr(values)


def tensor_sources(case: OnnxCase, constants: Mapping[str, Array]) -> dict[str, list[str]]:
    """The lists of a graph as source: its nodes, inputs and initializers."""
    model = case.model
    nodes = [
        f"helper.make_node('Constant', [], [{t.name!r}], "
        f"value=numpy_helper.from_array({array_source(constants[t.name])}))"
        for t in model.tensors
        if t.held == NODE
    ]
    return {
        "nodes": [*nodes, *map(node_source, model.nodes)],
        "inputs": [info_source(tensor) for tensor in listed_inputs(model)],
        "initializers": [
            f"numpy_helper.from_array({array_source(constants[t.name])}, {t.name!r})"
            for t in model.tensors
            if t.constant and t.held != NODE
        ],
    }
