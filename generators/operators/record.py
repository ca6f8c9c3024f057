"""The operator record: everything that is true of one Relax operator, as data.

Families, graphs, emission, scripts, documentation and the table of operators read it. Oracles are
joined to it by name alone, so that they stay independent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Literal

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Unfit, Value
from relaxcheck.generators.core.faults import Fault
from relaxcheck.generators.core.operand import facts, operand_axes

Form = Literal["call", "cast", "tir", "packed", "closure", "bare"]

FLOATS = ("float32", "float64", "float16")


class Numerics(StrEnum):
    """The class of a correct result's distance from the exact one."""

    COPIES = "copies"
    """Elements are moved or chosen: bit for bit."""
    ROUNDS = "rounds"
    """One operation of IEEE 754 an element."""
    APPROXIMATES = "approximates"
    """A function such as ``exp``: a few units in the last place."""
    ACCUMULATES = "accumulates"
    """Sums of many terms: the order of summation is free."""


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()
"""The default of an attribute that has none."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument that is a tensor (or a shape, as a value).

    ``many``: the operator takes a list of such operands in place of this one; or, where they stand
    ``apart``, so many arguments.
    """

    name: str
    ranks: tuple[int, ...] = ()
    dtypes: tuple[str, ...] = FLOATS
    optional: bool = False
    many: bool = False
    apart: bool = False
    kind: Literal["tensor", "shape"] = "tensor"


@dataclass(frozen=True, slots=True)
class Attribute:
    """An argument that is no tensor. ``default`` is that of TVM's function, or ``REQUIRED``.

    Types: ``axis`` and ``axes`` count dimensions, from the end where negative. An ``expressions``
    is a list of integer expressions, which TVM's function takes as a list and not as a shape; an
    ``value`` is a number that older releases take as a ``PrimValue`` only; an
    ``extent`` is a number, or a shape of one dimension that stands for it. A
    ``constant`` is a number that it takes as a Relax constant of the dtype that the attribute
    ``dtype`` names. An ``index_map`` is the text of one (see ``generators.core.attributes``). Where
    a default is one number, a list of that number alone is the default too.
    """

    name: str
    type: Literal[
        "bool", "int", "float", "text", "dtype", "layout", "axis", "axes", "ints", "shape",
        "expressions", "extent", "value", "constant", "index_map",
    ]  # fmt: skip
    default: object = REQUIRED


Apply = Callable[[Draft, Value, Point], None]
"""Appends the calls of an operator to a draft, on the operand at hand, at a point of the axes."""


@dataclass(frozen=True, slots=True)
class OwnOperand:
    """Axes of the operand at hand that are the operator's own: batch, heads, layouts and the like.

    They stand among the record's ``axes``, and ``names`` says which they are. ``start(draft,
    point)`` makes the operand in a family, ``bindings(point)`` gives the sizes that its symbols are
    run at. ``describe(value)`` gives a point's values for an operand of a graph: of the axes that
    the operand decides, and of others that a graph is not to vary; it raises ``Unfit`` where the
    operator does not take the operand. Without it no graph calls the operator: its operands hold
    values that no other operator makes.
    """

    names: frozenset[str]
    start: Callable[[Draft, Point], Value]
    bindings: Callable[[Point], tuple[Mapping[str, int], ...]]
    describe: Callable[[Value], Point] | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """A window that slides over the operand at hand, and the ``size`` of it that people use.

    It extends along the letters ``spatial`` of the operand's layout, which the attribute
    ``data_layout`` names, with the step in the attribute ``dilation``. Its sizes are a list in
    ``attribute``; where that is empty, they are the dimensions of the second argument along these
    letters, in the layout that ``kernel_layout`` names. ``inside``: it needs ``dilation * (size -
    1) + 1`` elements along each axis, padding apart.
    """

    size: int
    spatial: str
    data_layout: str = "data_layout"
    kernel_layout: str = "kernel_layout"
    attribute: str = ""
    inside: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """One Relax operator.

    ``name`` is what follows ``relax.op.``. ``meaning`` says in a few sentences what it computes,
    ``source`` who says so. ``operands[at_hand]`` is the operand at hand: a graph's last value, or
    what a single-operator family makes of the operand's axes. An operator without tensor operands
    has ``like`` instead, a tensor that lends the call its shape and dtype. ``axes`` are what else
    varies; ``allowed`` may read the operand (see ``generators.core.operand``).

    ``apply(draft, value, point)`` appends the operator's calls to ``draft``, on ``value``, and is
    the rule for the result's shape and dtype. It draws nothing, makes further operands by
    ``draft.input``, and states what it needs of dimensions by ``draft.require``. Its last value is
    the result. In a family no reachable point may raise ``Unfit``; in a graph it may.

    ``operand_fits`` restricts the operand's shapes in a family (sizes are numbers there); ``own``
    replaces the operand's usual axes (rank, sizes, symbolic, dtype). ``faults`` are the ways to
    make a valid program of the family invalid. ``layouts`` is what ConvertLayout is asked for,
    where the operator has layouts. ``narrowed``: ToMixedPrecision computes it in float16, or fails
    on it, so that its family is compiled by that pass too. ``also`` are further operators that the
    same function of ``relax.op`` calls. ``window`` is what slides over the operand, where reduction
    is to end at a size of it that people use. ``form`` is how it is called: as a function of
    ``relax.op``, as a binding that casts, as a call of a function of TIR, of a packed function or
    of a closure, or bare, for TVM has no function of it. ``effect``: it is called for its effect,
    and a node of it stands for its last operand. ``pure``: TVM allows it in a dataflow block.
    ``alone``: its family has it, and no graph. ``nulls``: TVM puts a value of its own in place of
    each argument that is left out, and binds it to a variable. ``elementary``: an elementary
    function, element by element, which its family is asked for over the whole range of its dtype
    too.
    """

    name: str
    meaning: str
    source: str
    operands: tuple[Operand, ...]
    apply: Apply
    numerics: Numerics
    attributes: tuple[Attribute, ...] = ()
    axes: tuple[Axis, ...] = ()
    requires: str = ""
    operand_fits: Callable[[tuple[Dim, ...]], bool] | None = field(default=None, repr=False)
    faults: tuple[Fault, ...] = ()
    layouts: tuple[str, ...] = ()
    form: Form = "call"
    effect: bool = False
    pure: bool = True
    alone: bool = False
    nulls: bool = False
    at_hand: int = 0
    like: Operand | None = None
    own: OwnOperand | None = None
    narrowed: bool = False
    also: tuple[str, ...] = ()
    window: Window | None = None
    elementary: bool = False

    @property
    def is_in_graphs(self) -> bool:
        """True if graphs call it."""
        return not self.alone and (self.own is None or self.own.describe is not None)

    @property
    def hand(self) -> Operand:
        """The operand at hand."""
        return self.like or self.operands[self.at_hand]

    @property
    def family_axes(self) -> tuple[Axis, ...]:
        """The axes of the single-operator family, but for how a program is compiled and fed."""
        return self.axes if self.own is not None else _reachable(self)

    @property
    def drawn_axes(self) -> tuple[Axis, ...]:
        """The axes that are left to draw where the operand is there already."""
        decided = self.own.names if self.own is not None else ()
        return tuple(axis for axis in self.axes if axis.name not in decided)

    @property
    def operand_axes(self) -> tuple[Axis, ...]:
        """The axes that make the operand at hand, where it has no axes of its own."""
        return operand_axes(self.hand.ranks, self.hand.dtypes, self.operand_fits)

    def facts(self, value: Value) -> Point:
        """The part of a point that ``value`` decides as the operand at hand.

        Raises:
            Unfit: the operator does not take it.
        """
        if self.own is not None and self.own.describe is not None:
            return self.own.describe(value)
        operand = self.hand
        known = value.rank in operand.ranks and value.dtype in operand.dtypes
        if self.own is not None or not known:
            raise Unfit(f"{self.name} takes no {value.dtype} of rank {value.rank}")
        return facts(value.shape, value.dtype)


@cache
def _reachable(record: Operator) -> tuple[Axis, ...]:
    """The axes of the record's family, without values that no operand of the family allows.

    A choice among axes counts as far as any operator's rank goes.
    """
    rank, sizes, symbolic, _ = own = record.operand_axes
    operands = [
        {rank.name: count, sizes.name: pattern, symbolic.name: symbols}
        for count in rank.values
        for pattern in sizes.choices({rank.name: count})
        for symbols in symbolic.choices({rank.name: count, sizes.name: pattern})
    ]
    return (
        *own,
        *(
            replace(
                axis,
                values=tuple(
                    value
                    for value in axis.values
                    if any(axis.allowed(operand, value) for operand in operands)
                ),
            )
            for axis in record.axes
        ),
    )
