"""Calls that overwrite arguments: the condition under which a program may have them.

TVM's documentation demands that an overwritten value is neither used afterwards nor shared, and no
pass checks it. A program that breaks it may give any result.
"""

from collections.abc import Iterator

from relaxcheck.generators.core.called.meanings import (
    FRESH,
    INPLACE_PACKED,
    TIR_INPLACE,
    function_of,
)
from relaxcheck.generators.core.program import CALL, CLOSURES, ITEM, Node, Program
from relaxcheck.generators.core.structure import BRANCH, ELEMENT, TUPLE

_SHARING = frozenset(
    {
        *("reshape", "flatten", "squeeze", "expand_dims", "match_cast", "memory.view"),
        *(CALL, *CLOSURES, BRANCH, TUPLE, ELEMENT),
    }
)
"""Operators whose result may have the memory of an argument."""


def check(program: Program) -> None:
    """Check the calls that overwrite arguments.

    Raises:
        ValueError: an index is wrong, or an argument may not be overwritten.
    """
    makers = {node.name: node for node in program.nodes}
    begun: set[object] = set()
    for at, node in enumerate(program.nodes):
        key = _call(node)
        if node.operator not in (TIR_INPLACE, INPLACE_PACKED) or key in begun:
            continue
        # Its other items are no further call.
        begun |= {key} if ITEM in node.attributes else set()
        later = [other for other in program.nodes[at + 1 :] if _call(other) != key]
        repeated = ITEM not in node.attributes and len(later) < len(program.nodes) - at - 1
        for name in _overwritten(node):
            maker = makers.get(name)
            if maker is None or maker.operator in _SHARING:
                raise ValueError(f"node {node.name} overwrites {name}, whose memory others have")
            if node.arguments.count(name) > 1 or name in program.outputs or repeated:
                raise ValueError(f"node {node.name} overwrites {name}, which is used again")
            for other in later:
                if name in other.arguments:
                    raise ValueError(f"node {other.name} reads {name}, overwritten by {node.name}")


def _call(node: Node) -> object:
    others = {name: value for name, value in node.attributes.items() if name != ITEM}
    return (node.operator, node.arguments, tuple(sorted(others.items())))


def _overwritten(node: Node) -> Iterator[str]:
    """Yield the arguments that ``node`` overwrites. Raises ``ValueError`` for a wrong index."""
    function, indices = function_of(node), node.attributes["inplace_indices"]
    if not isinstance(indices, tuple) or len(node.arguments) != function.arguments:
        raise ValueError(f"node {node.name}: wrong arguments, or indices {indices!r}")
    overwritten = [index for index in indices if index != FRESH]
    if (
        len(indices) != len(function.results)
        or not set(overwritten) <= set(range(function.arguments))
        or len(set(overwritten)) < len(overwritten)
        or not overwritten
    ):
        raise ValueError(
            f"node {node.name}: inplace_indices {indices}: each of {len(function.results)} results "
            f"has the index of one of {function.arguments} arguments, no two the same, or -1, but "
            "not all"
        )
    for index in overwritten:
        yield node.arguments[index]
