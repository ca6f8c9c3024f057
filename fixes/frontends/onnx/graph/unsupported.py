"""The operators of a model that the importer lacks, all of them, with the nodes that have them."""

from collections.abc import Iterator
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, MethodRebinding
from relaxcheck.fixes.framework.patch import Method, NewFile
from relaxcheck.fixes.frontends.onnx.converting import IMPORTER
from relaxcheck.fixes.frontends.onnx.graph.naming import name_of

UPSTREAM = NewFile("relax/frontend/onnx/unsupported.py")

_OWN = ("", "ai.onnx")
_MICROSOFT = "com.microsoft"
_CONTRIBUTED = (
    *("AllClassNMS", "Attention", "BiasGelu", "DequantizeLinear", "EmbedLayerNormalization"),
    *("FastGelu", "GatherND", "Gelu", "GridSample", "MatMulInteger16", "Pad", "QLinearAdd"),
    *("QLinearConv", "QLinearLeakyRelu", "QLinearMul", "QLinearSigmoid", "QuantizeLinear"),
    *("RotaryEmbedding", "SkipLayerNormalization", "Trilu"),
)
"""The operators of com.microsoft that the table of the importer has.

Others, such as Unique and Range, have the name of an operator of ONNX and other inputs or outputs.
"""

_CONSTRUCTS = ("If",)


def check_for_unsupported_ops(importer: Any, graph: Any) -> None:
    """Refuse ``graph`` if it, or a graph within it, has operators that the importer lacks.

    Raises:
        OpNotImplemented: names all of them, each with its nodes.
    """
    from tvm.relax.frontend.onnx import onnx_frontend

    table = onnx_frontend._get_convert_map()
    lacking: dict[str, list[str]] = {}
    for node in _nodes(graph):
        served = node.op_type in table or node.op_type in _CONSTRUCTS
        contributed = node.domain == _MICROSOFT and node.op_type in _CONTRIBUTED
        if served and (node.domain in _OWN or contributed):
            continue
        domain = "" if node.domain in _OWN else f"{node.domain}."
        lacking.setdefault(f"{domain}{node.op_type}", []).append(name_of(node))
    if lacking:
        listed = ", ".join(f"{operator} ({_some(nodes)})" for operator, nodes in lacking.items())
        raise tvm_api.OpNotImplemented(
            f"The following operators are not supported for frontend ONNX: {listed}"
        )


_SHOWN = 3


def _some(nodes: list[str]) -> str:
    """The names of some nodes, and the number of the others."""
    others = len(nodes) - _SHOWN
    shown = ", ".join(nodes[:_SHOWN])
    return f"{shown} and {others} more" if others > 0 else shown


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
    return (MethodRebinding(owner, "_check_for_unsupported_ops", check_for_unsupported_ops),)


def _message(model: Any) -> str:
    """The text of the error for ``model``; empty if it is imported."""
    from tvm.relax.frontend.onnx import from_onnx

    try:
        from_onnx(model)
    except Exception as error:
        # Of any kind: its text is what counts.
        return str(error)
    return ""


def _model(*nodes: tuple[str, str]) -> Any:
    """A model of nodes by domain and operator, one behind the other."""
    from onnx import TensorProto, helper

    value = [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [2])]
    chain = [
        helper.make_node(operator, [f"v{at}"], [f"v{at + 1}"], f"n{at}", domain=domain)
        for at, (domain, operator) in enumerate(nodes)
    ]
    result = [helper.make_tensor_value_info(f"v{len(nodes)}", TensorProto.FLOAT, [2])]
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("local", 1)]
    graph = helper.make_graph(chain, "graph", value, result)
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def _names_no_node() -> bool:
    return "n1" not in _message(_model(("", "Relu"), ("local", "Gone")))


def _takes_other_domain() -> bool:
    return "local" not in _message(_model(("local", "Relu")))


def _mistakes_contributed() -> bool:
    """True if com.microsoft's Unique, which has other outputs, is taken for ONNX's."""
    return _MICROSOFT not in _message(_model((_MICROSOFT, "Unique")))


FIX = Fix(
    name="onnx_unsupported",
    operators=(),
    fault=(
        "ONNX operators of unknown domains are imported by name, as is com.microsoft's Unique,"
        " whose outputs are others; unknown operators are refused without nodes"
    ),
    issue=None,
    parts=(
        FaultPart("no names of nodes", _names_no_node),
        FaultPart("another domain", _takes_other_domain),
        FaultPart("com.microsoft", _mistakes_contributed),
    ),
    rebindings=_rebindings,
    after="onnx_inputs",
    patch=(
        Method(
            IMPORTER,
            "ONNXGraphImporter",
            "_check_for_unsupported_ops",
            check_for_unsupported_ops,
        ),
    ),
)
