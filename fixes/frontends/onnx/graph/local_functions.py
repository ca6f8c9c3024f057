"""Functions that a model defines itself: imported as the nodes of their bodies."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Guard, NewFile
from relaxcheck.fixes.frontends.onnx.converting import IMPORTER
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model

UPSTREAM = NewFile("relax/frontend/onnx/local_functions.py")


def without_functions(model: Any) -> Any:
    """``model`` with the bodies of its own functions in place of their calls."""
    if not len(getattr(model, "functions", ())):
        return model
    import onnx
    from onnx import inliner

    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    _state_defaults(whole)
    return inliner.inline_local_functions(whole, convert_version=True)


def _state_defaults(model: Any) -> None:
    """Give each call of a function the attributes that it leaves to their defaults.

    The inliner knows no defaults.
    """
    defaults = {(each.domain, each.name): each.attribute_proto for each in model.functions}
    for owner in (model.graph, *model.functions):
        for node in _nodes(owner):
            named = {attribute.name for attribute in node.attribute}
            for default in defaults.get((node.domain, node.op_type), ()):
                if default.name not in named:
                    node.attribute.append(default)


def _nodes(owner: Any) -> Iterator[Any]:
    """The nodes of a graph or function, and of the graphs within it."""
    for node in owner.node:
        yield node
        for attribute in node.attribute:
            for subgraph in (attribute.g, *attribute.graphs):
                yield from _nodes(subgraph)


def _rebindings() -> tuple[Rebinding, ...]:
    from tvm.relax.frontend.onnx import onnx_frontend

    before: Callable[..., Any] = onnx_frontend.from_onnx

    @functools.wraps(before)
    def from_onnx(model: Any, *arguments: Any, **keywords: Any) -> Any:
        return before(without_functions(model), *arguments, **keywords)

    return (Rebinding(before, from_onnx),)


def _lacks_functions() -> bool:
    from onnx import helper

    data = np.array([1, -2], np.float32)
    model = node_model("Twice", {"x": data}, 13)
    model.graph.node[0].domain = "local"
    body = [helper.make_node("Add", ["a", "a"], ["b"])]
    imports = [helper.make_opsetid("", 13)]
    model.functions.append(helper.make_function("local", "Twice", ["a"], ["b"], body, imports))
    model.opset_import.append(helper.make_opsetid("local", 1))
    return fails(model, [data], [data * 2])


FIX = Fix(
    name="onnx_local_functions",
    operators=(),
    fault="ONNX models that define functions themselves are not imported",
    issue=None,
    parts=(FaultPart("a function", _lacks_functions),),
    rebindings=_rebindings,
    after="onnx_initializers",
    patch=(Guard(IMPORTER, "from_onnx", without_functions, "model", result="model"),),
)
