"""Functions of TIR that a program calls by ``call_tir``: what each means, as an operator of Relax.

They are over dimensions of their own: an axis that is symbolic where the function is called has a
variable in it, which the argument's shape tells at run time.
"""

from dataclasses import dataclass, field

from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.program import Attribute, Node, ShapeValue

CALL_TIR = "call_tir"
"""The operator of a node that calls one of ``FUNCTIONS``, named by ``function``, on one tensor.

``of`` is the shape of the argument, ``shape`` that of the result, and ``dtype`` that of both.
"""


@dataclass(frozen=True, slots=True)
class TirFunction:
    """``source`` is its result as a tensor expression of tir_x; an operator computes the same."""

    source: str
    operator: str
    attributes: dict[str, Attribute] = field(default_factory=dict)


FUNCTIONS = {
    "opposite": TirFunction("te.compute(tir_x.shape, lambda *i: -tir_x(*i))", "negative"),
    "turned": TirFunction(
        "te.compute(tir_x.shape[::-1], lambda *i: tir_x(*i[::-1]))", "permute_dims"
    ),
    # Around the end of the first axis, backwards, as one writes what is circular.
    "backwards": TirFunction(
        "te.compute(tir_x.shape, lambda *i: tir_x((-1 - i[0]) % tir_x.shape[0], *i[1:]))",
        "flip",
        {"axis": 0},
    ),
    "row_sum": TirFunction(
        "te.compute(tir_x.shape[:-1], lambda *i: te.sum(tir_x(*i, tir_k), axis=tir_k))",
        "sum",
        {"axis": (-1,), "keepdims": False},
    ),
}
"""By name. In ``source``, tir_k is a reduction axis over the last axis of tir_x."""


def meant(node: Node) -> Node:
    """The node of an operator that computes what the node ``node`` of ``CALL_TIR`` does."""
    function = FUNCTIONS[str(node.attributes["function"])]
    return Node(node.name, function.operator, node.arguments, dict(function.attributes))


def argument_dims(node: Node) -> tuple[Dim, ...]:
    """The dimensions that the function of ``node`` has for its argument, with its own variables."""
    of = node.attributes["of"]
    dims = of.dims if isinstance(of, ShapeValue) else of
    assert isinstance(dims, tuple)
    return tuple(f"a{axis}" if symbols(dim) else dim for axis, dim in enumerate(dims))
