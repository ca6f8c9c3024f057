"""Differences between two cases, as a person would list them."""

from collections.abc import Iterator

from relaxcheck.generators.core.contexts import USUAL, context_of, text_of
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.program import Case, Program, ShapeValue
from relaxcheck.harness.outcomes.attribution import Aspect, Difference


def differences(case: Case, other: Case) -> tuple[Difference, ...]:
    """The differences that make ``other`` of ``case``, for a person.

    Shapes count if nothing else differs, or attributes do: then they are part of the change. From
    symbols they follow.
    """
    different = [*_of_nodes(case.program, other.program), *_of_inputs(case.program, other.program)]
    different += [
        Difference(Aspect.SETTING, name, getattr(case, name), getattr(other, name))
        for name in ("target", "pipeline", "exec_mode", "opt_level", "regime")
        if getattr(case, name) != getattr(other, name)
    ]
    was, to = (text_of(context_of(each)) or USUAL for each in (case, other))
    if was != to:
        different.append(Difference(Aspect.SETTING, "context", was, to))
    if all(isinstance(each.was, ShapeValue) for each in different):
        # A shape in an attribute follows from the dimensions.
        different = [*_of_dims(case.program, other.program)] or different
    if all(each.what is Aspect.ATTRIBUTE for each in different):
        different += _of_shapes(case.program, other.program)
    return tuple(different)


def _of_nodes(program: Program, other: Program) -> Iterator[Difference]:
    theirs = {node.name: node for node in other.nodes}
    for node in program.nodes:
        if node.name not in theirs:
            yield Difference(Aspect.NODE, node.operator, True, None)
            continue
        attributes = theirs[node.name].attributes
        for name in dict.fromkeys((*node.attributes, *attributes)):
            was, to = node.attributes.get(name), attributes.get(name)
            if was != to:
                yield Difference(Aspect.ATTRIBUTE, name, was, to)


def _of_inputs(program: Program, other: Program) -> Iterator[Difference]:
    for name in program.symbols:
        if name not in other.symbols:
            yield Difference(Aspect.SYMBOL, name, True, None)
    theirs = {tensor.name: tensor for tensor in other.inputs}
    for tensor in program.inputs:
        to = theirs.get(tensor.name, tensor)
        if tensor.name not in theirs and len(program.nodes) == len(other.nodes):
            yield Difference(Aspect.INPUT, tensor.name, True, None)
        if tensor.dtype != to.dtype:
            yield Difference(Aspect.DTYPE, tensor.name, tensor.dtype, to.dtype)
        if tensor.constant != to.constant:
            yield Difference(Aspect.CONSTANT, tensor.name, tensor.constant, to.constant)


def _of_dims(program: Program, other: Program) -> Iterator[Difference]:
    """The expressions that are written otherwise in ``other``, each once."""
    if program.symbols != other.symbols:
        return
    theirs = dict(zip(_dims(program), _dims(other), strict=False))
    for dim, to in theirs.items():
        if dim != to and symbols(dim) and symbols(to):
            yield Difference(Aspect.DIMENSION, str(to), str(dim), str(to))


def _dims(program: Program) -> Iterator[Dim]:
    for tensor in program.inputs:
        yield from tensor.shape
    for node in program.nodes:
        for value in node.attributes.values():
            yield from value.dims if isinstance(value, ShapeValue) else ()


def _of_shapes(program: Program, other: Program) -> Iterator[Difference]:
    theirs = {tensor.name: tensor for tensor in other.inputs}
    for tensor in program.inputs:
        to = theirs.get(tensor.name, tensor)
        if tensor.shape != to.shape:
            yield Difference(Aspect.SHAPE, tensor.name, _shape(tensor.shape), _shape(to.shape))


def _shape(dims: tuple[int | str, ...]) -> str:
    return f"({', '.join(map(str, dims))}{',' * (len(dims) == 1)})"
