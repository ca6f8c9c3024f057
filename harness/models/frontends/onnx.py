"""Import an ONNX model, and record the variable that each node became."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import onnx
from tvm import relax
from tvm.relax.frontend.onnx import onnx_frontend

from relaxcheck.fixes import tvm_api
from relaxcheck.harness.models.frontends.recording import (
    Held,
    conversions,
    quiet,
    recorded,
    replaced,
    shown,
)
from relaxcheck.harness.models.imported import Imported, ImportFault, Unsupported

_IMPORTER = "ONNXGraphImporter"
_TEXT = 160


@dataclass(slots=True)
class _Seen:
    """The first importer of a run, its graph, and the graph whose nodes it walks."""

    importer: Any = None
    graph: Any = None
    checking: Any = None


def imported(model: onnx.ModelProto) -> Imported:
    """The Relax module of ``model``, by ``from_onnx`` with its defaults.

    A call that a converter leaves without a variable gets one, so that it is computed once.

    Raises:
        ImportFault: TVM raised.
    """
    seen = _Seen()
    base: Any = getattr(onnx_frontend, _IMPORTER)

    class Recording(base):  # type: ignore[misc]
        """TVM's importer, which keeps what it holds."""

        def from_onnx(self, graph: Any, opset: int) -> Any:
            if seen.importer is None:
                seen.importer = self
            return super().from_onnx(graph, opset)

        def _check_for_unsupported_ops(self, graph: Any) -> None:
            seen.checking = graph
            super()._check_for_unsupported_ops(graph)
            seen.checking = None

        def _construct_nodes(self, graph: Any) -> None:
            if seen.graph is None:
                seen.graph = graph
            super()._construct_nodes(graph)

        def _convert_operator(self, *arguments: Any, **named: Any) -> Any:
            value = super()._convert_operator(*arguments, **named)
            if isinstance(value, relax.Call):
                value = self.bb.normalize(value)
                if isinstance(value, relax.Call) and tvm_api.is_tensor(value):
                    return self.bb.emit(value)
            return value

    try:
        with quiet(), replaced(onnx_frontend, _IMPORTER, Recording):
            module = onnx_frontend.from_onnx(model)
    except Exception as error:
        raise _fault(error, seen) from error
    inputs = seen.importer._inputs.items()
    names = tuple(name for name, value in inputs if isinstance(value, relax.Var))
    return recorded(module, _held(seen), names)


def _held(seen: _Seen) -> list[Held]:
    """What the importer holds for the nodes that it has converted."""
    nodes = seen.importer._nodes
    return [
        Held(name, node.op_type, _text(node), tuple(filter(None, node.input)), nodes[name])
        for node in seen.graph.node
        for name in node.output
        if name in nodes
    ]


def _fault(error: Exception, seen: _Seen) -> ImportFault:
    if seen.checking is not None:
        return ImportFault(error, unsupported=_lacking(seen.checking, str(error)))
    if seen.graph is None:
        return ImportFault(error)
    held = seen.importer._nodes
    for node in seen.graph.node:
        if any(name and name not in held for name in node.output):
            operands = tuple(shown(held.get(name)) if name else "none" for name in node.input)
            before = conversions(_held(seen), {}, {})
            return ImportFault(error, _name(node), node.op_type, operands, conversions=before)
    return ImportFault(error)


def _lacking(graph: Any, message: str) -> tuple[Unsupported, ...]:
    """The operators that ``message``, TVM's, names, with their nodes."""
    named = set(re.findall(r"\w+", message))
    found: dict[str, list[str]] = {}
    for node in _nodes(graph):
        if node.op_type in named:
            found.setdefault(node.op_type, []).append(_name(node))
    return tuple(Unsupported(operator, tuple(nodes)) for operator, nodes in found.items())


def _nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for subgraph in (attribute.g, *attribute.graphs):
                yield from _nodes(subgraph)


def _name(node: Any) -> str:
    """The name of a node; where it has none, that of its first output."""
    return str(node.name or next(filter(None, node.output), "a node"))


def _text(node: Any) -> str:
    attributes = [
        f"{each.name}={value!r}"
        for each in node.attribute
        if isinstance(value := onnx.helper.get_attribute_value(each), int | float | str | bytes)
    ]
    return f"{node.op_type}({', '.join([*node.input, *attributes])})"[:_TEXT]
