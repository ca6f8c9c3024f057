"""Structure of programs beside calls of operators: conditionals, and values that are tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relaxcheck.generators.core.program import Node

BRANCH = "if"
"""The operator of a node that is ``relax.If`` on its first argument, a truth value without axes.

Its branches are the bodies of the functions ``function``, where that is true, and ``otherwise``, of
the same inputs, symbols and results, at the other arguments; ``sizes`` are as for a call.
"""

TUPLE = "tuple"
"""The operator of a node that is the tuple of its arguments, which may be tuples themselves."""

ELEMENT = "tuple_item"
"""The operator of a node that is the element ``at`` of its argument, a tuple of such a node."""

AT = "at"


def tuple_values(nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
    """The elements of each node whose value is a tuple, by name.

    Raises:
        ValueError: an element is taken of what is no tuple, or does not exist, or another operator
            takes a tuple.
    """
    elements: dict[str, tuple[str, ...]] = {}
    for node in nodes:
        if node.operator == TUPLE:
            elements[node.name] = node.arguments
        elif node.operator == ELEMENT:
            element = _element(node, elements)
            if element in elements:
                elements[node.name] = elements[element]
        elif wrong := [name for name in node.arguments if name in elements]:
            raise ValueError(f"node {node.name}: {wrong[0]} is a tuple")
    return elements


def without_tuples(nodes: Sequence[Node]) -> tuple[list[Node], dict[str, str]]:
    """Those of ``nodes`` that make tensors, and the tensor that each element of a tuple is."""
    elements: dict[str, tuple[str, ...]] = {}
    same: dict[str, str] = {}
    others = []
    for node in nodes:
        if node.operator == TUPLE:
            elements[node.name] = node.arguments
        elif node.operator == ELEMENT:
            element = _element(node, elements)
            if element in elements:
                elements[node.name] = elements[element]
            else:
                same[node.name] = same.get(element, element)
        else:
            others.append(node)
    return others, same


def _element(node: Node, elements: Mapping[str, tuple[str, ...]]) -> str:
    at = node.attributes.get(AT)
    of = elements.get(node.arguments[0]) if len(node.arguments) == 1 else None
    if of is None or not isinstance(at, int) or not 0 <= at < len(of):
        raise ValueError(f"node {node.name}: {node.arguments} has no element {at!r}")
    return of[at]
