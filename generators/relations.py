"""Metamorphic relations: a program written in another way, whose results must be the same.

A relation maps a program and its bindings to others with the same inputs and outputs by name, so
that every oracle says the same of both. A fault that shows only under a relation is due to how the
program is written: the order of its parameters, the name of a symbol, an expression that is
equal but not alike, or that its dimensions are symbols at all.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from generators import dims
from generators.dims import Dim
from generators.dynamic_draft import Draw
from generators.program import Attribute, Below, Fill, Misfit, Node, Offsets, Program, ShapeValue
from generators.static import static

Bindings = tuple[dict[str, int], ...]
Relation = Callable[[Program, Bindings, Draw], tuple[Program, Bindings]]

NONE = "none"

NAMES = ("x0_0", "ax0", "k", "i", "z", "a", "shape_heap", "param_0", "p_lv", "q")
"""Names for symbols: some that passes, loops and called functions use for their own."""


def _as_it_is(program: Program, bindings: Bindings, draw: Draw) -> tuple[Program, Bindings]:
    return program, bindings


def _at_one_binding(program: Program, bindings: Bindings, draw: Draw) -> tuple[Program, Bindings]:
    """Every dimension a number, at one of ``bindings``, and functions written out.

    A 0 in the new shape of a reshape is "as in the argument" to TVM: not where there is one.
    """
    made = [static(program, binding) for binding in bindings]
    meant = [one for one in made if not any(map(_copies_a_dimension, one.nodes))]
    return (draw.choice(meant), ({},)) if meant else (program, bindings)


def _copies_a_dimension(node: Node) -> bool:
    shape = node.attributes.get("shape")
    return node.operator == "reshape" and isinstance(shape, tuple) and 0 in shape


def _permuted(program: Program, bindings: Bindings, draw: Draw) -> tuple[Program, Bindings]:
    """The parameters in another order: what a symbol is first met in may be ``2*m``."""
    inputs = draw.shuffled(program.inputs)
    if inputs == program.inputs:
        inputs = inputs[::-1]
    return msgspec.structs.replace(program, inputs=inputs), bindings


def _renamed(program: Program, bindings: Bindings, draw: Draw) -> tuple[Program, Bindings]:
    """Each symbol under another name; those of called functions keep theirs."""
    names = dict(zip(program.symbols, draw.shuffled(NAMES), strict=False))

    def dim(one: Dim) -> Dim:
        return dims.canonical(
            dims.fold(
                one,
                constant=str,
                symbol=lambda name: names[name],
                binary=lambda sign, left, right: f"({left} {sign} {right})",
            )
        )

    renamed = with_dims(program, dim, dim)
    return renamed, tuple({names[key]: size for key, size in row.items()} for row in bindings)


def _rewritten(template: str) -> Relation:
    """Each dimension with a symbol as ``template`` has it, but where it gives a symbol its value.

    That is the first place where the symbol is a dimension by itself.
    """

    def related(program: Program, bindings: Bindings, draw: Draw) -> tuple[Program, Bindings]:
        set_before: set[Dim] = set()

        def other(dim: Dim) -> Dim:
            if not dims.symbols(dim):
                return dim
            if str(dim).isidentifier() and dim not in set_before:
                set_before.add(dim)
                return dim
            return dims.canonical(template.format(dim))

        return with_dims(program, other, lambda limit: limit), bindings

    return related


def _told(told: Literal["shape", "scalars"]) -> Relation:
    """The caller tells the size of each symbol, before all inputs, whose shapes are held to it."""

    def related(program: Program, bindings: Bindings, draw: Draw) -> tuple[Program, Bindings]:
        if not program.symbols:
            return program, bindings
        return msgspec.structs.replace(program, told=told), bindings

    return related


RELATIONS: dict[str, Relation] = {
    NONE: _as_it_is,
    "static": _at_one_binding,
    "permuted": _permuted,
    "renamed": _renamed,
    "plus zero": _rewritten("({}) + 0"),
    "times one": _rewritten("1*({})"),
    "told a shape": _told("shape"),
    "told scalars": _told("scalars"),
}
"""Each by its name. Where there is nothing to write otherwise a relation gives the same program."""


def related(
    name: str, program: Program, bindings: Sequence[Mapping[str, int]], seed: int
) -> tuple[Program, Bindings]:
    """``program`` as the relation ``name`` writes it, and its bindings; choices follow ``seed``."""
    rows = tuple(dict(row) for row in bindings)
    return RELATIONS[name](program, rows, Draw(f"{seed}/{name}"))


def with_dims(program: Program, dim: Callable[[Dim], Dim], limit: Callable[[Dim], Dim]) -> Program:
    """``program`` with its dimensions replaced, but for those of its functions.

    ``dim`` is given those of inputs and of nodes, in order; ``limit`` those that values depend on.
    """
    inputs = tuple(
        msgspec.structs.replace(
            given, shape=tuple(map(dim, given.shape)), fill=_fill(given.fill, limit)
        )
        for given in program.inputs
    )
    nodes = tuple(
        msgspec.structs.replace(
            node,
            attributes={name: _attribute(value, dim) for name, value in node.attributes.items()},
        )
        for node in program.nodes
    )
    return msgspec.structs.replace(program, inputs=inputs, nodes=nodes)


def _attribute(value: Attribute, dim: Callable[[Dim], Dim]) -> Attribute:
    return ShapeValue(tuple(map(dim, value.dims))) if isinstance(value, ShapeValue) else value


def _fill(fill: Fill, limit: Callable[[Dim], Dim]) -> Fill:
    match fill:
        case Offsets(total=total):
            return Offsets(limit(total))
        case Below(limit=most):
            return Below(limit(most))
        case Misfit(shape=shape):
            return Misfit(tuple(map(limit, shape)))
    return fill
