"""Faults: ways to break one thing in a valid case, so that its program is invalid.

A fault is declared only where the operator's definition and both PyTorch and ONNX leave no room:
each family's table says why. Every fault works at every point that has the values it pins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import SEEDS, Axis, Point, ProgramFamily, settle
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.points import narrowed
from relaxcheck.generators.core.program import Attribute, Case, Program

_VARIED = 3
"""Axes of an invalid case that may be off their default."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of invalid program.

    ``names`` are what an error may call the offending attribute or dimension (any of them, in any
    case); ``pinned`` gives the axis values that the fault needs; ``breaking(program, point)`` makes
    the valid program of ``point`` invalid.
    """

    kind: str
    names: tuple[str, ...]
    breaking: Callable[[Program, Point], Program]
    pinned: Point = field(default_factory=dict)


def pin(axes: Sequence[Axis], pinned: Point) -> tuple[Axis, ...]:
    """``axes`` with those that ``pinned`` names held at that one value."""
    return narrowed(axes, {name: (value,) for name, value in pinned.items()})


class Breakable(ProgramFamily, Protocol):
    """A family with a table of faults, all of one operator."""

    @property
    def operator(self) -> str:
        """The operator that must refuse every fault."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The ways to break a valid case, each of another kind."""


def broken(family: Breakable, fault: Fault, point: Point, seed: int) -> Case:
    """The case at ``point`` (which has the pinned values) with ``fault`` put in."""
    case = family.build(point, seed)
    program = fault.breaking(case.program, point)
    kept = [
        {name: value for name, value in binding.items() if name in program.symbols}
        for binding in case.bindings
    ]
    return msgspec.structs.replace(
        case,
        program=program,
        bindings=tuple(row for at, row in enumerate(kept) if row not in kept[:at]),
        expect=Invalid(family.operator, fault.names),
        at=msgspec.UNSET,
    )


def strategies(family: Breakable) -> tuple[st.SearchStrategy[Case], ...]:
    """For each fault of ``family``, the cases that have it."""
    return tuple(_cases(family, fault) for fault in family.faults)


@st.composite
def _cases(draw: st.DrawFn, family: Breakable, fault: Fault) -> Case:
    """Cases of ``family``, each with ``fault``.

    All but a few axes are at their defaults: what comes of the case is then due to its fault, not
    to something else that it happens to have.
    """
    point = near_defaults(draw, pin(family.axes, fault.pinned), _VARIED)
    return broken(family, fault, point, draw(SEEDS))


def near_defaults(draw: st.DrawFn, axes: Sequence[Axis], most: int) -> Point:
    """A valid point of ``axes``, ``most`` of which may be off their default."""
    wanted = {axis.name: axis.default for axis in axes}
    # As many draws every time: what Hypothesis makes of an earlier example then fits.
    varied = draw(st.integers(0, most), label="varied")
    for number in range(most):
        axis = draw(st.sampled_from(axes), label=f"axis {number}")
        value = draw(st.sampled_from(axis.values), label=f"value {number}")
        if number < varied:
            wanted[axis.name] = value
    point = settle(axes, wanted, ())
    assert point is not None
    return point


def with_attributes(
    program: Program, operator: str, change: Callable[[dict[str, Any]], dict[str, Attribute]]
) -> Program:
    """``program`` where the node of ``operator`` also has the attributes that ``change`` gives."""
    nodes = tuple(
        msgspec.structs.replace(
            node, attributes={**node.attributes, **change(dict(node.attributes))}
        )
        if node.operator == operator
        else node
        for node in program.nodes
    )
    return msgspec.structs.replace(program, nodes=nodes)


def with_shape(
    program: Program, name: str, change: Callable[[list[Dim]], Sequence[Dim]]
) -> Program:
    """``program`` where the input ``name`` has the shape that ``change`` makes of its own."""
    inputs = tuple(
        msgspec.structs.replace(tensor, shape=tuple(change(list(tensor.shape))))
        if tensor.name == name
        else tensor
        for tensor in program.inputs
    )
    return msgspec.structs.replace(program, inputs=inputs)


def with_dtype(program: Program, name: str, dtype: str) -> Program:
    """``program`` where the input ``name`` has the dtype ``dtype``."""
    inputs = tuple(
        msgspec.structs.replace(tensor, dtype=dtype) if tensor.name == name else tensor
        for tensor in program.inputs
    )
    return msgspec.structs.replace(program, inputs=inputs)
