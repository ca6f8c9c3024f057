"""Calls that break one equality that a program states about the shapes of its parameters.

The right answer is an error that names the parameter, the dimension and both sizes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from hypothesis import strategies as st

from generators.axes import SEEDS, Point, ProgramFamily, points
from generators.dims import Dim, evaluate, symbols
from generators.program import Case, Misfit, Mismatch, Program, Random, Valid

_FURTHEST = 300
"""Symbols are tried up to here to see whether they make a size."""


@dataclass(frozen=True, slots=True)
class Place:
    """Dimension ``axis`` of the run-time input ``parameter``, which the program states.

    ``decided``: other dimensions decide its size. Otherwise it is a multiple of something, or has
    a least size, and what breaks that is a size that its symbol cannot make.
    """

    parameter: str
    axis: int
    dim: Dim
    decided: bool = True


def stated(program: Program) -> Iterator[Place]:
    """The dimensions that a caller can get wrong: all but those by which a symbol is set.

    A symbol is set where it is first a dimension by itself, in the order of the parameters; one
    that never is, by the first dimension it is in. Where the caller tells the sizes of symbols, all
    are set before.
    """
    run_time = [given for given in program.inputs if not given.constant]
    bare = {dim for given in run_time for dim in given.shape if _is_symbol(dim)}
    known: set[Dim] = set(program.symbols) if program.told else set()
    for given in run_time:
        for axis, dim in enumerate(given.shape):
            unset = symbols(dim) - bare - known
            if _is_symbol(dim) and dim not in known:
                known.add(dim)
            elif unset:
                known |= unset
                if len(symbols(dim)) == 1:
                    yield Place(given.name, axis, dim, decided=False)
            else:
                yield Place(given.name, axis, dim)


def _is_symbol(dim: Dim) -> bool:
    return isinstance(dim, str) and dim.isidentifier()


def mismatched(case: Case, place: Place, off: int) -> Case:
    """``case`` called, at its first binding, with ``off`` elements more along ``place``.

    Raises:
        ValueError: that is no size, or one that the program allows.
    """
    binding = case.bindings[0]
    wanted = evaluate(place.dim, binding)
    size = wanted + off
    if size < 0 or off == 0 or (not place.decided and _makes(place.dim, size)):
        raise ValueError(f"{place.dim} may be {size}, or nothing can")
    given = case.program.input(place.parameter)
    shape = [evaluate(dim, binding) for dim in given.shape]
    shape[place.axis] = size
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
            (wanted, size) if place.decided else (size,),
        ),
    )


def corrected(case: Case) -> Case:
    """``case`` with inputs of the shapes that it states, as before ``mismatched``.

    It is run at one binding still; itself where nothing is off.
    """
    if not isinstance(case.expect, Mismatch):
        return case
    inputs = tuple(
        msgspec.structs.replace(one, fill=Random()) if isinstance(one.fill, Misfit) else one
        for one in case.program.inputs
    )
    program = msgspec.structs.replace(case.program, inputs=inputs)
    return msgspec.structs.replace(case, program=program, expect=Valid())


def _makes(dim: Dim, size: int) -> bool:
    """Whether some value of the only symbol of ``dim`` gives ``size``."""
    (name,) = symbols(dim)
    return any(evaluate(dim, {name: value}) == size for value in range(_FURTHEST))


def wrong(case: Case) -> tuple[tuple[Place, int], ...]:
    """The ways to call ``case`` wrongly: a place, and how many elements more it is given."""
    by_name = {one.name: one for one in case.program.inputs}
    found = []
    for place in stated(case.program):
        wanted = evaluate(place.dim, case.bindings[0])
        for off in (1, 2, -1, -wanted):
            fits = wanted + off >= 0 and (place.decided or not _makes(place.dim, wanted + off))
            if off and fits and isinstance(by_name[place.parameter].fill, Random):
                found.append((place, off))
    return tuple(found)


@st.composite
def cases(draw: st.DrawFn, family: ProgramFamily) -> Case:
    """Valid cases of ``family``, called with one dimension off."""
    point = draw(points(family.axes))
    case = family.build(point, draw(SEEDS))
    ways = wrong(case)
    if not ways:
        # A program of one input, all of whose dimensions are symbols, states nothing.
        case = family.build({**point, **STATING}, case.seed)
        ways = wrong(case)
    place, off = ways[draw(st.integers(0, len(ways) - 1))]
    return mismatched(case, place, off)


STATING: Point = {"form": "tutorial", "steps": 1, "focus": "add"}
"""Axis values of a program that states an equality: the inner dimension of a product."""
