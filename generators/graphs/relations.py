"""Metamorphic relations: rewrite a program so that its results must stay the same.

A relation maps a program and its bindings to an equivalent program with the same input and output
names, so that every oracle gives both the same answer. A failure that appears only under a relation
depends on how the program is written: the order of its parameters, the name of a symbol, the form
of a dimension expression, symbolic dimensions as such, or the nodes that compute its results.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import LongestSegment
from relaxcheck.generators.core.gradients import gradients
from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.generators.core.rewrites.sizes import with_dims
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.graphs import rewritings
from relaxcheck.generators.graphs.choices import Choices

Bindings = tuple[dict[str, int], ...]
Relation = Callable[[Program, Bindings, Choices], tuple[Program, Bindings]]

NONE = "none"

NAMES = ("x0_0", "ax0", "k", "i", "z", "a", "shape_heap", "param_0", "p_lv", "q")
"""Names for symbols that may clash: passes, loops and called functions use some of them too."""


def _as_it_is(program: Program, bindings: Bindings, choices: Choices) -> tuple[Program, Bindings]:
    return program, bindings


def _at_one_binding(
    program: Program, bindings: Bindings, choices: Choices
) -> tuple[Program, Bindings]:
    """Evaluate every dimension at one of ``bindings``, and inline the functions.

    TVM reads a 0 in the new shape of a reshape as "copy this dimension of the argument", so a
    binding that puts one there does not qualify.
    """
    programs = [static(program, binding) for binding in bindings]
    alike = [each for each in programs if not any(map(_copies_a_dimension, each.nodes))]
    return (choices.choice(alike), ({},)) if alike else (program, bindings)


def _copies_a_dimension(node: Node) -> bool:
    shape = node.attributes.get("shape")
    return node.operator == "reshape" and isinstance(shape, tuple) and 0 in shape


def _permuted(program: Program, bindings: Bindings, choices: Choices) -> tuple[Program, Bindings]:
    """Reorder the parameters; the first dimension that mentions ``m`` may then be ``2*m``."""
    inputs = choices.shuffled(program.inputs)
    if inputs == program.inputs:
        inputs = inputs[::-1]
    return msgspec.structs.replace(program, inputs=_behind_their_sources(inputs)), bindings


def _behind_their_sources(inputs: Sequence[Input]) -> tuple[Input, ...]:
    """Move each input whose values follow from another one's behind that; keep the order else."""
    ordered: dict[str, Input] = {}
    waiting = list(inputs)
    while waiting:
        ready = next(
            each
            for each in waiting
            if not isinstance(each.fill, LongestSegment) or each.fill.of in ordered
        )
        ordered[ready.name] = ready
        waiting.remove(ready)
    return tuple(ordered.values())


def _renamed(program: Program, bindings: Bindings, choices: Choices) -> tuple[Program, Bindings]:
    """Rename each symbol of the program; symbols of called functions keep their names."""
    names = dict(zip(program.symbols, choices.shuffled(NAMES), strict=False))

    def dim(original: Dim) -> Dim:
        return dims.canonical(
            dims.fold(
                original,
                constant=str,
                symbol=lambda name: names[name],
                binary=lambda sign, left, right: f"({left} {sign} {right})",
            )
        )

    renamed = with_dims(program, dim, dim)
    return renamed, tuple({names[key]: size for key, size in row.items()} for row in bindings)


def _rewritten(template: str) -> Relation:
    """Rewrite each symbolic dimension by ``template``, except those that define a symbol.

    A symbol is defined by the first dimension that is the bare symbol.
    """

    def related(program: Program, bindings: Bindings, choices: Choices) -> tuple[Program, Bindings]:
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


def _sizes_from_caller(form: Literal["shape", "scalars"]) -> Relation:
    """Pass the size of each symbol before all inputs; input shapes are then checked against it."""

    def related(program: Program, bindings: Bindings, choices: Choices) -> tuple[Program, Bindings]:
        if not program.symbols:
            return program, bindings
        return msgspec.structs.replace(program, size_parameters=form), bindings

    return related


def _with_nodes(rewrite: Callable[[Program, Choices], Program]) -> Relation:
    """Rewrite the program alone: neither its symbols nor its gradients, which are of its nodes."""

    def related(program: Program, bindings: Bindings, choices: Choices) -> tuple[Program, Bindings]:
        return (program if gradients(program) else rewrite(program, choices)), bindings

    return related


RELATIONS: dict[str, Relation] = {
    NONE: _as_it_is,
    "static": _at_one_binding,
    "permuted": _permuted,
    "renamed": _renamed,
    "plus zero": _rewritten("({}) + 0"),
    "times one": _rewritten("1*({})"),
    "told a shape": _sizes_from_caller("shape"),
    "told scalars": _sizes_from_caller("scalars"),
    "computed again": _with_nodes(rewritings.computed_again),
    "inlined": _with_nodes(rewritings.without_calls),
    "constants": _with_nodes(rewritings.with_other_constants),
    "tuple": _with_nodes(rewritings.through_a_tuple),
    "dead code": _with_nodes(rewritings.with_dead_code),
    "split": _with_nodes(rewritings.split_and_joined),
}
"""Relations by name. A relation that has nothing to rewrite returns the program unchanged."""


def related(
    name: str, program: Program, bindings: Sequence[Mapping[str, int]], choices: Choices
) -> tuple[Program, Bindings]:
    """Apply the relation ``name``: the rewritten ``program``, and its bindings."""
    rows = tuple(dict(row) for row in bindings)
    return RELATIONS[name](program, rows, choices)
