"""Structure of programs beside calls of operators: conditionals, and values that are tuples."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar


class Named(Protocol):
    """A node, as far as structure goes."""

    @property
    def name(self) -> str:
        """The name of its value."""

    @property
    def operator(self) -> str:
        """The name of its operator."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the values that it takes."""

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes."""


class Callee(Protocol):
    """A function, as far as structure goes."""

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The tensors that it takes."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the values that it gives."""


_Node = TypeVar("_Node", bound=Named)

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

PASSING = "passing"
"""The attribute of calls of a function that says how its arguments, or itself, are passed.

``tuple``: as one tuple, which the function takes. ``local``: the function is a value of its caller,
and no function of the module. All calls of a function have the same, or none.
"""

AS_TUPLE, LOCAL = "tuple", "local"
"""The values of ``PASSING``."""


def check_results(
    node: Named, function: Callee, functions: Mapping[str, Callee], item: object
) -> None:
    """Check that ``node``, a call of ``function``, is one of its outputs, and both branches fit.

    Raises:
        ValueError: it is no output, or the branches of a conditional differ.
    """
    count = len(function.outputs)
    if item not in (range(count) if count > 1 else (None,)):
        raise ValueError(f"node {node.name}: the function has {count} outputs, and no {item!r}")
    if node.operator == BRANCH:
        other = functions.get(str(node.attributes.get("otherwise")))
        alike = other is not None and len(other.outputs) == count
        if other is None or not alike or _signature(other) != _signature(function):
            raise ValueError(f"node {node.name}: the branches differ in what they take or give")


def _signature(function: Callee) -> list[tuple[object, str]]:
    """The shape and dtype of each input."""
    return [(tensor.shape, tensor.dtype) for tensor in function.inputs]


def tuple_values(nodes: Sequence[Named]) -> dict[str, tuple[str, ...]]:
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


def without_tuples(nodes: Sequence[_Node]) -> tuple[list[_Node], dict[str, str]]:
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


def _element(node: Named, elements: Mapping[str, tuple[str, ...]]) -> str:
    at = node.attributes.get(AT)
    of = elements.get(node.arguments[0]) if len(node.arguments) == 1 else None
    if of is None or not isinstance(at, int) or not 0 <= at < len(of):
        raise ValueError(f"node {node.name}: {node.arguments} has no element {at!r}")
    return of[at]
