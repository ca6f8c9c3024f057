"""Evaluate a model in the reference, node by node."""

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Function, Graph, Model, Node
from relaxcheck.generators.onnx.schemas import schema
from relaxcheck.generators.onnx.walk import nodes_of
from relaxcheck.oracles.answer import Bounded, Unsupported
from relaxcheck.oracles.onnx.reference.bodies import Type, body, has_body
from relaxcheck.oracles.onnx.reference.call import OPERATORS, Call, Declined, Value, composed
from relaxcheck.oracles.onnx.reference.values import output, stored
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.registry import discover

discover("relaxcheck.oracles.onnx.reference.operators")

Values = MutableMapping[str, Value]


@dataclass(frozen=True, slots=True)
class Trace:
    """The values of a model by name, all up to the node that could not be evaluated.

    ``outputs`` is None where there is such a node, or an output is no tensor, and ``reason`` says
    why. ``declined``: the node's operator has a function, which declines the call.
    """

    values: Mapping[str, Value]
    outputs: tuple[Bounded, ...] | None
    reason: str = ""
    declined: bool = False


def outputs(model: Model, arrays: Mapping[str, Array]) -> tuple[Bounded, ...]:
    """The outputs of ``model`` for ``arrays``, the values of all its tensors, with their bounds.

    Raises:
        Unsupported: an operator has no function, or its function does not define this call.
    """
    made = trace(model, arrays)
    if made.outputs is None:
        raise Unsupported(made.reason)
    return made.outputs


def trace(model: Model, arrays: Mapping[str, Array]) -> Trace:
    """The values of ``model`` for ``arrays``, the values of all its tensors."""
    values: Values = {}
    scope = _Scope(model.opset, {(each.domain, each.name): each for each in model.functions})
    try:
        for tensor in model.tensors:
            values[tensor.name] = stored(arrays[tensor.name], tensor.dtype)
        # Overflows and invalid operations are results: infinities, unconstrained.
        with np.errstate(all="ignore"):
            scope.evaluate(model.nodes, values)
    except Unsupported as reason:
        return Trace(values, None, str(reason), isinstance(reason, Declined))
    results = [values[name] for name in model.outputs]
    tensors = [each for each in results if isinstance(each, Estimate)]
    if len(tensors) < len(results):
        return Trace(values, None, "reference: an output is no tensor")
    return Trace(values, tuple(map(output, tensors)))


def missing_operators(model: Model) -> tuple[str, ...]:
    """The operators of ``model`` that the reference has no function of, by name."""
    own = {(function.domain, function.name) for function in model.functions}
    return tuple(
        dict.fromkeys(
            node.operator
            for node in nodes_of(model)
            if (node.domain, node.operator) not in own
            and _named(node) not in OPERATORS
            and (node.domain or not has_body(node.operator, model.opset))
        )
    )


class _Scope:
    """Evaluates nodes in one opset."""

    __slots__ = ("_functions", "_opset")

    def __init__(self, opset: int, functions: Mapping[tuple[str, str], Function]) -> None:
        self._opset, self._functions = opset, functions

    def evaluate(self, nodes: Iterable[Node], values: Values) -> None:
        """Add the outputs of ``nodes`` to ``values``."""
        for node in nodes:
            operands = tuple(values.get(name) if name else None for name in node.inputs)
            function = self._functions.get((node.domain, node.operator))
            results = (
                self._own(node, operands, values)
                if function is None
                else self._called(function, operands)
            )
            for name, result in zip(node.outputs, results, strict=False):
                if name and result is not None:
                    values[name] = result

    def _own(
        self, node: Node, operands: tuple[Value | None, ...], values: Values
    ) -> tuple[Value | None, ...]:
        name = _named(node)
        known = not node.domain or name in OPERATORS
        version = schema(name, self._opset) if known else None
        if version is None:
            raise Unsupported(f"reference: no operator {_named(node)} in opset {self._opset}")
        call = Call(node, version, operands, partial(self._graph, values))
        function = OPERATORS.get(name)
        if function is None:
            if not has_body(node.operator, self._opset):
                raise Unsupported(f"reference: no operator {node.operator}")
            function = composed(self._defined)
        try:
            result = function(call)
        except ValueError as error:
            raise Declined(f"reference: {node.operator}: {error}") from error
        if isinstance(result, tuple) and not _is_sequence(node):
            return result
        return (result,)  # type: ignore[return-value]

    def _defined(self, call: Call) -> tuple[Value | None, ...]:
        """The outputs of ``call`` by ONNX's own definition of its operator."""
        types = [_type(each) for each in call.operands]
        inputs, nodes, outputs, opset = body(call.node, self._opset, types)
        values: Values = {
            name: each
            for name, each in zip(inputs, call.operands, strict=False)
            if each is not None
        }
        _Scope(opset, {}).evaluate(nodes, values)
        # The body has all outputs of the schema, in its order, or those of the node alone.
        places = {each.name: at for at, each in enumerate(call.schema.outputs)}
        results: list[Value | None] = [None] * max(len(places), len(outputs))
        for at, name in enumerate(outputs):
            results[places.get(name, at)] = values.get(name)
        return tuple(results)

    def _graph(
        self, around: Values, graph: Graph, operands: tuple[Value, ...]
    ) -> tuple[Value, ...]:
        inner: Values = ChainMap({}, around)
        inner.update(zip((each.name for each in graph.inputs), operands, strict=True))
        self.evaluate(graph.nodes, inner)
        return tuple(inner[name] for name in graph.outputs)

    def _called(self, function: Function, operands: tuple[Value | None, ...]) -> tuple[Value, ...]:
        inner: Values = {
            name: each
            for name, each in zip(function.inputs, operands, strict=False)
            if each is not None
        }
        self.evaluate(function.nodes, inner)
        return tuple(inner[name] for name in function.outputs)


_OF_SEQUENCES = (
    *("SequenceEmpty", "SequenceConstruct", "SequenceInsert", "SequenceErase"),
    *("SplitToSequence", "OptionalGetElement"),
)


def _is_sequence(node: Node) -> bool:
    """True if the only output of ``node`` is a sequence."""
    return node.operator in _OF_SEQUENCES


def _named(node: Node) -> str:
    return f"{node.domain}.{node.operator}" if node.domain else node.operator


def _type(value: Value | None) -> Type | None:
    if value is None:
        return None
    if not isinstance(value, Estimate):
        raise Unsupported("reference: a definition that takes a sequence")
    return value.dtype, tuple(value.value.shape)
