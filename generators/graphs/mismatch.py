"""Calls with an argument whose shape contradicts the signature of the program.

The expected outcome is an error that names the parameter, the dimension and both sizes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import msgspec
from hypothesis import strategies as st

from relaxcheck.generators.calls import expectation
from relaxcheck.generators.core.axes import SEEDS, Axis, Point, points
from relaxcheck.generators.core.case import Mismatch
from relaxcheck.generators.core.dims import Dim, evaluate, symbols
from relaxcheck.generators.core.fills.kinds import Misfit, Random
from relaxcheck.generators.core.program import Case, Program

_FURTHEST = 300
"""The search for a symbol's value that gives a size ends here."""


@dataclass(frozen=True, slots=True)
class StatedDim:
    """Dimension ``axis`` of the run-time input ``parameter``, whose size the program constrains.

    ``decided``: other dimensions decide its size. Otherwise ``dim`` alone constrains it, such as
    ``3*k`` to multiples of 3, and only a size that no value of its symbol gives is wrong.
    """

    parameter: str
    axis: int
    dim: Dim
    decided: bool = True


def stated(program: Program) -> Iterator[StatedDim]:
    """Yield the dimensions that a caller can get wrong: all but those that define a symbol.

    The first dimension, in the order of the parameters, that is the bare symbol defines it; without
    one, the first dimension that contains it. Where the caller passes the sizes of symbols, no
    dimension defines any.
    """
    run_time = [tensor for tensor in program.inputs if not tensor.constant]
    bare = {dim for tensor in run_time for dim in tensor.shape if _is_symbol(dim)}
    known: set[Dim] = set(program.symbols) if program.size_parameters else set()
    for tensor in run_time:
        for axis, dim in enumerate(tensor.shape):
            unset = symbols(dim) - bare - known
            if _is_symbol(dim) and dim not in known:
                known.add(dim)
            elif unset:
                known |= unset
                if len(symbols(dim)) == 1:
                    yield StatedDim(tensor.name, axis, dim, decided=False)
            else:
                yield StatedDim(tensor.name, axis, dim)


def _is_symbol(dim: Dim) -> bool:
    return isinstance(dim, str) and dim.isidentifier()


def mismatched(case: Case, target: StatedDim, off: int) -> Case:
    """Call ``case``, at its first binding, with ``off`` more elements along ``target``.

    Raises:
        ValueError: the size is negative, or the program allows it.
    """
    binding = case.bindings[0]
    wanted = evaluate(target.dim, binding)
    size = wanted + off
    if size < 0 or off == 0 or (not target.decided and _gives(target.dim, size)):
        raise ValueError(
            f"parameter {target.parameter}, axis {target.axis}: size {size} of {target.dim} "
            "is negative or allowed"
        )
    parameter = case.program.input(target.parameter)
    shape = [evaluate(dim, binding) for dim in parameter.shape]
    shape[target.axis] = size
    inputs = tuple(
        msgspec.structs.replace(tensor, fill=Misfit(tuple(shape)))
        if tensor is parameter
        else tensor
        for tensor in case.program.inputs
    )
    return msgspec.structs.replace(
        case,
        program=msgspec.structs.replace(case.program, inputs=inputs),
        bindings=(binding,),
        expect=Mismatch(
            target.parameter,
            (f"shape[{target.axis}]", f"dimension {target.axis}"),
            (wanted, size) if target.decided else (size,),
        ),
    )


def corrected(case: Case) -> Case:
    """Undo ``mismatched``: give every input the shape that the program states.

    The case keeps its single binding. A case without a mismatch is returned as it is.
    """
    if not isinstance(case.expect, Mismatch):
        return case
    inputs = tuple(
        msgspec.structs.replace(tensor, fill=Random())
        if isinstance(tensor.fill, Misfit)
        else tensor
        for tensor in case.program.inputs
    )
    program = msgspec.structs.replace(case.program, inputs=inputs)
    return msgspec.structs.replace(case, program=program, expect=expectation(program))


def _gives(dim: Dim, size: int) -> bool:
    """Return True if some value of the only symbol of ``dim`` gives ``size``."""
    (name,) = symbols(dim)
    return any(evaluate(dim, {name: value}) == size for value in range(_FURTHEST))


def wrong(case: Case) -> tuple[tuple[StatedDim, int], ...]:
    """The ways to call ``case`` wrongly: a dimension, and the number of elements to add to it."""
    by_name = {tensor.name: tensor for tensor in case.program.inputs}
    calls = []
    for target in stated(case.program):
        wanted = evaluate(target.dim, case.bindings[0])
        for off in (1, 2, -1, -wanted):
            fits = wanted + off >= 0 and (target.decided or not _gives(target.dim, wanted + off))
            if off and fits and isinstance(by_name[target.parameter].fill, Random):
                calls.append((target, off))
    return tuple(calls)


class DrawnFamily(Protocol):
    """A family whose cases at a point are drawn."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes, those that others depend on first."""

    def cases_at(self, point: Point) -> st.SearchStrategy[Case]:
        """The valid cases at ``point``."""


@st.composite
def cases(draw: st.DrawFn, family: DrawnFamily) -> Case:
    """Valid cases of ``family``, called with one dimension of the wrong size."""
    point = draw(points(family.axes))
    case = draw(family.cases_at(point))
    if not wrong(case):
        # A program of one input, all of whose dimensions are bare symbols, accepts any shape.
        case = draw(family.cases_at({**point, **STATING}))
    return draw(called_wrongly(msgspec.structs.replace(case, seed=draw(SEEDS))))


@st.composite
def called_wrongly(draw: st.DrawFn, case: Case) -> Case:
    """The wrong calls of ``case``, which must have at least one (see ``wrong``)."""
    target, off = draw(st.sampled_from(wrong(case)))
    return mismatched(case, target, off)


STATING: Point = {"form": "tutorial", "steps": 1, "focus": "add"}
"""Axis values of a program with a dimension to get wrong: the inner one of a product."""
