"""Operators that the importer lacks and that ONNX itself defines by functions of other operators.

ONNX's inliner writes the body of such a function into the model, before the importer sees it. It
infers the types on which some bodies depend.
"""

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Guard, NewFile
from relaxcheck.fixes.frontends.onnx.converting import IMPORTER
from relaxcheck.fixes.frontends.onnx.preparing import Graph, Model, domain_of, preparing
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model

UPSTREAM = NewFile(
    "relax/frontend/onnx/functions.py",
    "Operators that the importer lacks and that ONNX defines by functions of other operators.",
)

Operator = tuple[str, str]
"""A domain and a name."""

_CONSTRUCTS = ("If", "Constant")
"""Operators that the importer serves without an entry in its table."""


def expanded(model: Model, known: Collection[str]) -> Model:
    """``model`` with the bodies of functions for the operators that are not ``known``.

    An operator stays if its body needs further operators that are not known: the error then names
    the operator that the model has.
    """
    kept: set[Operator] = set()
    while True:
        lacking = _lacking(model.graph, known)
        candidates = (each for each in sorted(lacking - kept) if _is_function(model, each))
        operator = next(candidates, None)
        if operator is None:
            return model
        trial = _inlined(model, operator)
        if trial is not None:
            trial = expanded(trial, known)
        if trial is None or not _lacking(trial.graph, known) < lacking:
            kept.add(operator)
        else:
            model = trial


def _inlined(model: Model, operator: Operator) -> Model | None:
    """``model`` with the body for ``operator``; None where ONNX cannot make it.

    A body may depend on types of inputs, and ONNX wants those of inputs that are left out, too.
    ONNX leaves a node as it is whose required input has no type.
    """
    import onnx.inliner

    stated = onnx.ModelProto()
    stated.CopyFrom(model)
    # ONNX's inliner knows no types of initializers.
    stated.graph.value_info.extend(
        onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        for tensor in model.graph.initializer
    )
    schema = _schema(model, operator)
    for node in _nodes(stated.graph):
        if (domain_of(node.domain), node.op_type) == operator:
            _state_defaults(node, schema)
    try:
        inlined = onnx.inliner.inline_selected_functions(
            stated, [operator], exclude=False, inline_schema_functions=True
        )
    except RuntimeError:
        return None
    return None if operator in _operators(inlined.graph) else inlined


def _state_defaults(node: Any, schema: Any) -> None:
    """Give ``node`` the attributes that it leaves out: ONNX's inliner leaves them out of bodies."""
    there = {attribute.name for attribute in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in there and attribute.default_value.name:
            node.attribute.append(attribute.default_value)


def _lacking(graph: Graph, known: Collection[str]) -> set[Operator]:
    return {
        operator
        for operator in _operators(graph)
        if operator[1] not in known and operator[1] not in _CONSTRUCTS
    }


def _operators(graph: Graph) -> Iterator[Operator]:
    """The operators of the nodes of ``graph``, those of its subgraphs included."""
    for node in _nodes(graph):
        yield (domain_of(node.domain), node.op_type)


def _nodes(graph: Graph) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for subgraph in (attribute.g, *attribute.graphs):
                yield from _nodes(subgraph)


def _is_function(model: Model, operator: Operator) -> bool:
    """True if the schema of ``operator`` in the version of ``model`` has a body."""
    schema = _schema(model, operator)
    if schema is None:
        return False
    return bool(schema.has_function or schema.has_context_dependent_function)


def _schema(model: Model, operator: Operator) -> Any:
    """The schema of ``operator`` in the version of ``model``; None if ONNX has none."""
    import onnx

    domain, name = operator
    for opset in model.opset_import:
        if domain_of(opset.domain) == domain:
            try:
                return onnx.defs.get_schema(name, opset.version, domain)
            except onnx.defs.SchemaError:
                return None
    return None


def _rebindings() -> tuple[Rebinding, ...]:
    from tvm.relax.frontend.onnx import onnx_frontend

    def known() -> set[str]:
        return set(onnx_frontend._get_convert_map())

    return (
        preparing(
            lambda model: expanded(model, known()),
            lambda graph: bool(_lacking(graph, known())),
        ),
    )


def _lacks_celu() -> bool:
    x = np.array([-1, 0.5], "float32")
    expected = np.array([2 * np.expm1(-0.5), 0.5], "float32")
    return fails(node_model("Celu", {"x": x}, 12, alpha=2.0), [x], [expected])


FIX = Fix(
    name="onnx_functions",
    operators=(
        "Celu",
        "CenterCropPad",
        "BlackmanWindow",
        "HammingWindow",
        "HannWindow",
        "NegativeLogLikelihoodLoss",
        "SoftmaxCrossEntropyLoss",
        "SwiGLU",
        "Swish",
    ),
    fault="operators that ONNX defines as functions of other operators are not imported",
    issue=None,
    parts=(FaultPart("Celu", _lacks_celu),),
    rebindings=_rebindings,
    after="onnx_rnn",
    patch=(Guard(IMPORTER, "from_onnx", expanded, "model, _get_convert_map()", result="model"),),
)
