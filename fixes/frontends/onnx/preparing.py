"""Changes of a model before it is imported.

They are put on the importer's class: programs hold ``from_onnx`` itself since before.
"""

from collections.abc import Callable
from typing import Any

from relaxcheck.fixes.framework.fix import Rebinding
from relaxcheck.fixes.framework.patch import NewFile

UPSTREAM = NewFile("relax/frontend/onnx/preparing.py", "Models before they are imported.")

Model = Any
Graph = Any

_DEFAULT = ("", "ai.onnx")


def domain_of(name: str) -> str:
    """The domain ``name``, empty for ONNX's own."""
    return "" if name in _DEFAULT else name


def preparing(prepare: Callable[[Model], Model], concerns: Callable[[Graph], bool]) -> Rebinding:
    """Import the graph of ``prepare(model)`` where it ``concerns`` the graph."""
    from tvm.relax.frontend.onnx import onnx_frontend

    before: Any = onnx_frontend.ONNXGraphImporter

    class ONNXGraphImporter(before):  # type: ignore[misc]
        """TVM's importer, which prepares the graph first."""

        def from_onnx(self, graph: Graph, opset: int) -> Any:
            """The module that is imported from ``graph``, in a model of ``opset``."""
            if concerns(graph):
                graph = prepare(_model_of(graph, opset)).graph
            return super().from_onnx(graph, opset)

    return Rebinding(before, ONNXGraphImporter)


def _model_of(graph: Graph, opset: int) -> Model:
    """A model of ``graph``, with the newest versions of domains other than ONNX's own."""
    import onnx

    model = onnx.ModelProto(ir_version=onnx.IR_VERSION)
    model.graph.CopyFrom(graph)
    model.opset_import.append(onnx.helper.make_opsetid("", opset))
    others = {domain_of(node.domain) for node in graph.node} - {""}
    for domain in sorted(others):
        model.opset_import.append(onnx.helper.make_opsetid(domain, _newest(domain)))
    return model


def _newest(domain: str) -> int:
    import onnx

    schemas = onnx.defs.get_all_schemas_with_history()
    return max((each.since_version for each in schemas if each.domain == domain), default=1)
