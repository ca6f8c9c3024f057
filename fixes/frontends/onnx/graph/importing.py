"""Models that compute with shapes or branch, which TVM's importer refuses or imports wrongly."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes.framework.fix import FaultPart, Fix, MethodRebinding, refuse
from relaxcheck.fixes.framework.patch import Method, NewFile
from relaxcheck.fixes.frontends.onnx.converting import IMPORTER
from relaxcheck.fixes.frontends.onnx.graph.walk import construct_nodes
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model

UPSTREAM = NewFile(
    "relax/frontend/onnx/graph_module.py", "The module that is made of the graph of a model."
)

OWNER = "ONNXGraphImporter"


def from_onnx(importer: Any, graph: Any, opset: int) -> Any:
    """The module for ``graph``, whose nodes are those of ``opset``."""
    importer.opset = opset
    importer._parse_graph_initializers(graph)
    importer._parse_graph_input(graph)
    importer._check_for_unsupported_ops(graph)
    parameters = list(importer._params.values())
    variables = [variable for variable, _ in parameters]
    attributes: dict[str, Any] = {"num_input": importer._num_input}
    if parameters:
        attributes["params"] = [value for _, value in parameters]
    inputs = [
        value
        for value in importer._inputs.values()
        if isinstance(value, relax.Var) and not any(value.same_as(each) for each in variables)
    ]
    builder = importer.bb
    branches = any(node.op_type == "If" for node in _nodes(graph))
    # The inputs first: the builder learns from their shapes which symbols are sizes.
    with builder.function("main", params=[*inputs, *variables]):
        with contextlib.nullcontext() if branches else builder.dataflow():
            importer._construct_nodes(graph)
            values = [_output(importer, output.name) for output in graph.output]
            result = values[0] if len(values) == 1 else relax.Tuple(values)
            if not branches:
                result = builder.emit_output(result)
        builder.emit_func_output(result)
    module = builder.get()
    module["main"] = module["main"].with_attrs(attributes)
    return module


def _output(importer: Any, name: str) -> Any:
    value = importer._nodes[name]
    if not isinstance(value, relax.Expr):
        raise refuse("The graph", output=name, value="an optional without a value")
    return value


def _nodes(graph: Any) -> Iterator[Any]:
    """The nodes of ``graph`` and of the graphs within it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for subgraph in (attribute.g, *attribute.graphs):
                yield from _nodes(subgraph)


def _rebindings() -> tuple[MethodRebinding, ...]:
    from tvm.relax.frontend.onnx import onnx_frontend

    owner = onnx_frontend.ONNXGraphImporter
    return (
        MethodRebinding(owner, "_construct_nodes", construct_nodes),
        MethodRebinding(owner, "from_onnx", from_onnx),
    )


def _shape_is_lost() -> bool:
    """True if a shape cannot be an operand of a product."""
    from onnx import helper

    data = np.zeros((2, 3), np.float32)
    model = node_model("Shape", {"x": data}, 15)
    model.graph.node.append(helper.make_node("Mul", ["output_0", "output_0"], ["squares"]))
    model.graph.output[0].name = "squares"
    return fails(model, [data], [np.array([4, 9], np.int64)])


def _branches_differ() -> bool:
    """True if the branches of an If cannot return tensors of different sizes."""
    from onnx import TensorProto, helper

    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    then_branch, else_branch = (
        helper.make_graph(
            [helper.make_node("Concat", ["x"] * count, ["y"], axis=0)], "b", [], [result]
        )
        for count in (1, 2)
    )
    model = node_model("Not", {"c": np.array(True), "x": np.ones(1, np.float32)}, 16)
    model.graph.node[0].CopyFrom(
        helper.make_node("If", ["c"], ["joined"], then_branch=then_branch, else_branch=else_branch)
    )
    model.graph.node.append(helper.make_node("Neg", ["joined"], ["output_0"]))
    data = [np.array(False), np.full(1, 3, np.float32)]
    return fails(model, data, [np.full(2, -3, np.float32)])


def _ignores_schemas() -> bool:
    """True if an attribute that no version of an operator has is ignored."""
    data = np.zeros(2, np.float32)
    return not fails(node_model("Relu", {"x": data}, 15, no_such_attribute=1), [data], [data])


FIX = Fix(
    name="onnx_graph",
    operators=("Shape", "Size", "If"),
    fault=(
        "ONNX models that compute with shapes, or branch to different sizes, are not imported;"
        " nodes that break their schemas are"
    ),
    issue=None,
    parts=(
        FaultPart("arithmetic of shapes", _shape_is_lost),
        FaultPart("branches of different sizes", _branches_differ),
        FaultPart("nodes that break their schemas", _ignores_schemas),
    ),
    rebindings=_rebindings,
    after="onnx_rnn",
    patch=(
        Method(IMPORTER, OWNER, "_construct_nodes", construct_nodes),
        Method(IMPORTER, OWNER, "from_onnx", from_onnx),
    ),
)
