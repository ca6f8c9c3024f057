"""Walks over the nodes of a model, those of functions and of subgraphs included."""

from collections.abc import Iterator, Sequence

from relaxcheck.generators.onnx.model import Graph, Model, Node


def nodes_of(model: Model) -> Iterator[Node]:
    """Every node of ``model``: its own in order, each followed by those of its subgraphs."""
    yield from _inner(model.nodes)
    for function in model.functions:
        yield from _inner(function.nodes)


def _inner(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for value in node.attributes.values():
            if isinstance(value, Graph):
                yield from _inner(value.nodes)


def operators_of(model: Model) -> tuple[str, ...]:
    """The operators of ``model``, each once, those that only pass values on left out.

    Where there are no others, these are all.
    """
    every = tuple(dict.fromkeys(node.operator for node in nodes_of(model)))
    return tuple(name for name in every if name not in _PASSING) or every


_PASSING = ("Identity", "Constant")
