"""Steps that make sizes smaller: dimensions of inputs, and values that symbols are bound to.

Only the operators know which dimensions have to change together, and the steps know no operators.
So equal sizes change all at once, then in every choice of a few of them; and sizes of which one is
a multiple of the other change together. Most results are invalid programs, which is cheap to check.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import TypeGuard

import msgspec
import numpy as np

from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.fills.kinds import Fill, Literal, Offsets
from relaxcheck.generators.core.program import DTYPES, Attribute, Case, Input, ShapeValue
from relaxcheck.harness.programs.reduction.steps import Knowledge, candidate, remade, smaller

_EVERY_CHOICE = 6
"""Up to so many equal sizes are tried in every choice; more in choices of up to three."""
_TRIPLES = 9

_PACKED = 4
"""The least factor of a packed layout that a size is made: people know NCHW4c, and not NCHW2c."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Position:
    """The position of a size: an axis of an input (-1: its total), or a symbol at a binding."""

    name: str
    at: int
    bound: bool = False


def sizes(case: Case, known: Knowledge) -> Iterator[Case]:
    """All sizes at most 1, 2 or 3; equal ones together; some of them; multiples together."""
    there = _places(case)
    for most in (1, 2, 3):
        least = {place: max(most, _least(case, place)) for place in there}
        yield from _moved(case, {place: to for place, to in least.items() if there[place] > to})
    distinct = sorted({size for size in there.values() if size != 1}, reverse=True)
    alike = {size: [place for place in there if there[place] == size] for size in distinct}
    for size, places in alike.items():
        for to in smaller(size):
            yield from _moved(case, dict.fromkeys(places, to))
            yield from _moved(case, dict.fromkeys(places, to), (size, to))
    for size, places in alike.items():
        for chosen in _choices(places):
            for to in smaller(size):
                yield from _moved(case, dict.fromkeys(chosen, to))
    for larger, size in product(distinct, repeat=2):
        if 1 < size < larger and larger % size == 0:
            for pair in _pairs(alike[larger], alike[size]):
                for to in smaller(size):
                    moves = dict.fromkeys(pair[0], larger // size * to)
                    yield from _moved(case, moves | dict.fromkeys(pair[1], to))


def _places(case: Case) -> dict[_Position, int]:
    """Each place of a size, with the size."""
    sizes_at: dict[_Position, int] = {}
    for tensor in case.program.inputs:
        sizes_at |= {
            _Position(tensor.name, at): n for at, n in enumerate(tensor.shape) if _is_size(n)
        }
        if isinstance(tensor.fill, Offsets) and _is_size(tensor.fill.total):
            sizes_at[_Position(tensor.name, -1)] = tensor.fill.total
    for at, binding in enumerate(case.bindings):
        sizes_at |= {_Position(symbol, at, True): value for symbol, value in binding.items()}
    return sizes_at


def _least(case: Case, place: _Position) -> int:
    """The smallest size to try there: the offsets of one sequence are two."""
    for tensor in case.program.inputs:
        if isinstance(tensor.fill, Offsets):
            own = tensor.name == place.name and place.at >= 0 and not place.bound
            if own or (place.bound and place.name in symbols(tensor.shape[0])):
                return 2
    return 1


def _is_size(dim: Dim) -> TypeGuard[int]:
    return isinstance(dim, int)


def _choices(places: Sequence[_Position]) -> Iterator[Sequence[_Position]]:
    """Some of ``places``, but not all: those at one axis or of one name first."""
    count = len(places)
    groups: dict[tuple[_Position, ...], None] = {}
    for key in ("at", "name"):
        for value in dict.fromkeys(getattr(place, key) for place in places):
            groups[tuple(place for place in places if getattr(place, key) == value)] = None
    most = count - 1 if count <= _EVERY_CHOICE else 3 if count <= _TRIPLES else 2
    for length in range(1, most + 1):
        groups |= dict.fromkeys(combinations(places, length))
    groups.pop(tuple(places), None)
    yield from groups


def _pairs(
    larger: Sequence[_Position], smaller: Sequence[_Position]
) -> Iterator[tuple[Sequence[_Position], Sequence[_Position]]]:
    """All places of two sizes; each of the one with each of the other."""
    yield larger, smaller
    if len(larger) * len(smaller) > 1:
        for place, other in product(larger, smaller):
            yield (place,), (other,)


def _moved(
    case: Case, moves: Mapping[_Position, int], number: tuple[int, int] | None = None
) -> Iterator[Case]:
    """``case`` with these sizes; a ``number`` in attributes replaced by another one as well."""
    yield from candidate(partial(_resized, case, moves, number))


def _resized(case: Case, moves: Mapping[_Position, int], number: tuple[int, int] | None) -> Case:
    """``case`` with these sizes.

    Raises:
        ValueError: the result is no case.
    """
    inputs = [_resized_input(tensor, moves) for tensor in case.program.inputs]
    bindings = [
        {symbol: moves.get(_Position(symbol, at, True), value) for symbol, value in binding.items()}
        for at, binding in enumerate(case.bindings)
    ]
    nodes = case.program.nodes
    if any(size < _least(case, place) for place, size in moves.items()):
        raise ValueError("there would be no sequence at all")
    if number is not None:
        nodes = tuple(
            msgspec.structs.replace(
                node,
                attributes={
                    name: _renumbered(value, *number) for name, value in node.attributes.items()
                },
            )
            for node in nodes
        )
    return remade(case, inputs=inputs, nodes=nodes, bindings=bindings)


def _resized_input(tensor: Input, moves: Mapping[_Position, int]) -> Input:
    shape = tuple(moves.get(_Position(tensor.name, at), n) for at, n in enumerate(tensor.shape))
    fill: Fill = tensor.fill
    if isinstance(fill, Offsets):
        fill = Offsets(moves.get(_Position(tensor.name, -1), fill.total))
    elif isinstance(fill, Literal) and shape != tensor.shape:
        fill = _corner(fill, tensor.shape, shape)
    return msgspec.structs.replace(tensor, shape=shape, fill=fill)


def _corner(fill: Literal, old: Sequence[Dim], new: Sequence[Dim]) -> Literal:
    """The first elements of ``fill`` along each axis.

    Raises:
        ValueError: ``new`` is larger than ``old`` on an axis, or one of them is not static.
    """
    if not all(isinstance(dim, int) for dim in (*old, *new)):
        raise ValueError("values are written out for a static shape only")
    values = np.empty(len(fill.values), object)
    values[:] = fill.values
    part = values.reshape([int(dim) for dim in old])[tuple(slice(int(dim)) for dim in new)]
    if part.shape != tuple(new):
        raise ValueError("there are no values for a larger shape")
    return Literal(tuple(part.ravel().tolist()))


def _renumbered(value: Attribute, old: int, new: int) -> Attribute:
    """``value`` with ``new`` for ``old``, also where that is the factor of a packed layout."""
    if isinstance(value, str):
        # No layout in use is packed by less than 4, and a dtype's bits are no size.
        if new < _PACKED or value in DTYPES:
            return value
        return _NUMBER.sub(lambda match: str(new) if int(match[0]) == old else match[0], value)
    if isinstance(value, tuple):
        return tuple(new if size == old else size for size in value)
    if isinstance(value, ShapeValue):
        return ShapeValue(tuple(new if dim == old else dim for dim in value.dims))
    if isinstance(value, int) and not isinstance(value, bool) and value == old:
        return new
    return value
