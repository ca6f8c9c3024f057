"""Calls that break one equality that a program states about the shapes of its parameters.

The right answer is an error that names the parameter, the dimension and both sizes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from hypothesis import strategies as st

from generators.axes import SEEDS, Family, points
from generators.dims import Dim, evaluate
from generators.program import Case, Misfit, Mismatch, Program, Random


@dataclass(frozen=True, slots=True)
class Place:
    """Dimension ``axis`` of the run-time input ``parameter``, which the program states."""

    parameter: str
    axis: int
    dim: Dim


def stated(program: Program) -> Iterator[Place]:
    """The dimensions that other parameters, or constants, decide: all but where a symbol is set.

    A symbol is set where it is first a dimension by itself, in the order of the parameters.
    """
    known: set[str] = set()
    for given in program.inputs:
        if given.constant:
            continue
        for axis, dim in enumerate(given.shape):
            if isinstance(dim, str) and dim.isidentifier() and dim not in known:
                known.add(dim)
            else:
                yield Place(given.name, axis, dim)


def mismatched(case: Case, place: Place, off: int) -> Case:
    """``case`` called, at its first binding, with ``off`` elements more along ``place``.

    Raises:
        ValueError: that leaves no size of at least 0.
    """
    binding = case.bindings[0]
    wanted = evaluate(place.dim, binding)
    if wanted + off < 0 or off == 0:
        raise ValueError(f"{wanted} and {off} more")
    given = case.program.input(place.parameter)
    shape = [evaluate(dim, binding) for dim in given.shape]
    shape[place.axis] = wanted + off
    inputs = tuple(
        msgspec.structs.replace(one, fill=Misfit(tuple(shape))) if one is given else one
        for one in case.program.inputs
    )
    return msgspec.structs.replace(
        case,
        program=msgspec.structs.replace(case.program, inputs=inputs),
        bindings=(binding,),
        expect=Mismatch(
            place.parameter,
            (f"shape[{place.axis}]", f"dimension {place.axis}"),
            (wanted, wanted + off),
        ),
    )


def places(case: Case) -> tuple[Place, ...]:
    """Where ``case`` may be called wrongly: its symbols are then still set by other places."""
    found = list(stated(case.program))
    by_name = {one.name: one for one in case.program.inputs}
    return tuple(one for one in found if isinstance(by_name[one.parameter].fill, Random))


@st.composite
def cases(draw: st.DrawFn, family: Family) -> Case:
    """Valid cases of ``family``, called with one dimension off."""
    point = draw(points(family.axes))
    case = family.build({**point}, draw(SEEDS))
    known = places(case)
    if not known:
        # Every template and most programs state one: a program of two equal operands does.
        case = family.build({**point, "form": "tutorial", "steps": 1, "focus": "add"}, case.seed)
        known = places(case)
    place = known[draw(st.integers(0, len(known) - 1))]
    wanted = evaluate(place.dim, case.bindings[0])
    offs = (1, 2, -1) if wanted > 0 else (1, 2)
    return mismatched(case, place, draw(st.sampled_from(offs)))
