"""Functions of TIR and packed functions: each by the operators of Relax that compute the same.

The arguments of a function have one shape, the attribute ``of`` of the node that calls it, and one
dtype. An oracle is asked about the operators alone (see ``generators.core.rewrites.static``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.program import ITEM, Attribute, Node, ShapeValue

WITH_GRAD = "call_tir_with_grad"
TIR_INPLACE = "call_tir_inplace"
DPS_PACKED = "call_dps_packed"
PURE_PACKED = "call_pure_packed"
INPLACE_PACKED = "call_inplace_packed"

CALLS = frozenset({WITH_GRAD, TIR_INPLACE, DPS_PACKED, PURE_PACKED, INPLACE_PACKED})
"""The operators of nodes that call one of ``FUNCTIONS``, named by the attribute ``function``."""

FRESH = -1
"""The index, among ``inplace_indices``, of a result that overwrites no argument."""

Shape = tuple[Dim, ...]


def _same(shape: Shape) -> Shape:
    return shape


@dataclass(frozen=True, slots=True)
class Result:
    """A result: ``operator`` of the arguments numbered ``of`` computes it, as do the texts.

    ``shape`` makes its shape of the arguments'. ``tensor`` is a tensor expression of ``tir_x`` and
    ``tir_y``, the arguments, of ``tir_k``, a reduction axis over the last axis of ``tir_x``, and of
    ``tir_size``, a size. ``array`` is an expression of the NumPy arrays ``x`` and ``y``, and of
    further arguments.
    """

    operator: str
    tensor: str = ""
    array: str = ""
    of: tuple[int, ...] = (0,)
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    shape: Callable[[Shape], Shape] = _same


@dataclass(frozen=True, slots=True)
class Function:
    """A function of ``arguments`` tensors.

    ``further`` says what it takes behind them, attributes of the node: ``size`` a size, which is
    ``extent``, ``lead`` a shape, ``bounds`` the numbers ``low`` and ``high``.
    """

    results: tuple[Result, ...]
    arguments: int = 1
    further: str = ""


_OPPOSITE = Result("negative", "te.compute(tir_x.shape, lambda *i: -tir_x(*i))", "np.negative(x)")
_OTHER_OPPOSITE = Result(
    "negative", "te.compute(tir_y.shape, lambda *i: -tir_y(*i))", "np.negative(y)", (1,)
)
_ROW_SUM = Result(
    "sum",
    "te.compute(tir_x.shape[:-1], lambda *i: te.sum(tir_x(*i, tir_k), axis=tir_k))",
    "x.sum(-1, dtype=x.dtype)",
    attributes={"axis": (-1,), "keepdims": False},
    shape=lambda shape: shape[:-1],
)
_DIFFERENCE = Result(
    "subtract",
    "te.compute(tir_x.shape, lambda *i: tir_x(*i) - tir_y(*i))",
    "np.subtract(x, y)",
    (0, 1),
)

FUNCTIONS: Mapping[str, Function] = {
    "opposite": Function((_OPPOSITE,)),
    "turned": Function(
        (
            Result(
                "permute_dims",
                "te.compute(tir_x.shape[::-1], lambda *i: tir_x(*i[::-1]))",
                "np.transpose(x)",
                shape=lambda shape: shape[::-1],
            ),
        )
    ),
    "row_sum": Function((_ROW_SUM,)),
    "difference": Function((_DIFFERENCE,), arguments=2),
    "opposite_and_sum": Function((_OPPOSITE, _ROW_SUM)),
    "sum_and_opposite": Function((_ROW_SUM, _OPPOSITE)),
    "opposites": Function((_OPPOSITE, _OTHER_OPPOSITE), arguments=2),
    "at_most": Function(
        (
            Result(
                "minimum",
                # Of a NaN it is NaN, which TIR's own minimum need not be.
                "te.compute(tir_x.shape, lambda *i: tirx.if_then_else("
                "tir_x(*i) > tir_size.astype(tir_x.dtype), tir_size.astype(tir_x.dtype), "
                "tir_x(*i)))",
                "np.minimum(x, np.asarray(size, x.dtype))",
            ),
        ),
        further="size",
    ),
    "clipped": Function(
        (Result("clip", array="np.clip(x, *np.asarray((low, high), x.dtype))"),), further="bounds"
    ),
    "spread": Function(
        (
            Result(
                "broadcast_to",
                array="np.broadcast_to(x, tuple(shape))",
                shape=lambda shape: (shape[0], *shape),
            ),
        ),
        further="lead",
    ),
}
"""By name."""


def function_of(node: Node) -> Function:
    """The function that ``node`` calls."""
    return FUNCTIONS[str(node.attributes["function"])]


def further_attributes(function: Function) -> frozenset[str]:
    """The attributes of a node by which it passes what ``function`` takes behind the tensors."""
    named = {"size": ("extent",), "lead": ("lead",), "bounds": ("low", "high")}
    return frozenset(named.get(function.further, ()))


def dims_of(value: Attribute) -> Shape:
    """The dimensions of an attribute that is a shape."""
    dims = value.dims if isinstance(value, ShapeValue) else value
    assert isinstance(dims, tuple)
    return tuple(dims)


def result_shapes(node: Node) -> list[Shape]:
    """The shapes of the results of the call ``node``."""
    of = dims_of(node.attributes["of"])
    return [result.shape(of) for result in function_of(node).results]


def meant(node: Node) -> list[Node]:
    """Nodes of operators that compute what the call ``node`` does, the last one of its name.

    The attributes of ``node`` are evaluated: shapes are numbers.
    """
    function = function_of(node)
    number = node.attributes.get(ITEM, 0)
    assert isinstance(number, int)
    result = function.results[number]
    arguments = tuple(node.arguments[at] for at in result.of)
    attributes: dict[str, Attribute] = dict(result.attributes)
    made: list[Node] = []
    match function.further:
        case "size":
            size = f"{node.name}__size"
            (fill,) = dims_of(node.attributes["extent"])
            named: dict[str, Any] = {"dtype": node.attributes["dtype"]}
            made.append(Node(size, "full", (), {"shape": (), "fill_value": fill, **named}))
            arguments = (*arguments, size)
        case "bounds":
            attributes |= {"min": node.attributes["low"], "max": node.attributes["high"]}
        case "lead":
            attributes["shape"] = node.attributes["lead"]
    return [*made, Node(node.name, result.operator, arguments, attributes)]
