"""Nodes that are wrong as soon as they are imported: nothing has to run to see it.

The expression that an importer makes of a node has a type. Where the framework's value has another
shape or dtype, the node is wrong, however the values look. Where the expression is a constant, or
the variable of another node, its value is known as well.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.shapes import dims_of, name_of, substitute, symbols_of
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.models.imported import Conversion, Step
from relaxcheck.harness.models.judging import STEP_LIMIT, Measured, kind, measured
from relaxcheck.harness.models.values import Values

_INFINITE = float("inf")

SHAPE, DTYPE, VALUE = "shape", "dtype", "value"
"""The ways in which a node differs from the framework's."""

_ELEMENTS = 6
"""The elements of a constant that are shown."""

# TVM has no type information of its own.
Type = Any
Sizes = dict[Any, Any]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A node that is wrong on the framework's operands, and the way in which it ``differs``.

    Where it is wrong before anything runs, ``reason`` says why that is known, and ``relax`` shows
    what the importer made of it; both are "" elsewhere.
    """

    step: Step
    measured: Measured
    differs: str = VALUE
    reason: str = ""
    relax: str = ""


@dataclass(frozen=True, slots=True)
class Converted:
    """The nodes that are ``wrong`` already, in the order of the framework's graph.

    ``variables`` have types that contradict the framework's values, which cannot stand for them.
    ``behind`` are the nodes that use the result of a wrong one: nothing can be said of them.
    """

    wrong: tuple[Wrong, ...]
    variables: frozenset[str]
    behind: frozenset[str]


def converted(
    conversions: Sequence[Conversion],
    values: Values,
    known: Mapping[str, Array],
    *,
    types: Mapping[str, Type],
    owners: Mapping[str, str],
    sizes: Sizes,
) -> Converted:
    """Judge ``conversions`` by the framework's ``values``.

    Variables have the values ``known`` and the final ``types``; the nodes ``owners`` are the first
    to have them. ``sizes`` are those of symbols, to which new ones are added.
    """
    wrong: list[Wrong] = []
    variables: set[str] = set()
    bad: set[str] = set()
    behind: set[str] = set()
    for each in conversions:
        name, variable = each.step.name, each.step.variable
        own = values.own.get(name)
        follows = any(operand in bad for operand in each.operands)
        if follows:
            behind.add(name)
        if each.type is None or own is None:
            bad.update([name] if follows else [])
            continue
        owns = owners.get(variable) == name
        found = _contradicting(each, types.get(variable, each.type), own, sizes, owns=owns)
        if found is not None:
            variables.update([variable] if owns else [])
        elif not owns and not follows:
            found = _known_wrong(each, values, known)
        if found is not None and not follows:
            wrong.append(found)
        # What fits is forced for the nodes that use it, unless another node's value stands there.
        if found is not None or (follows and not owns):
            bad.add(name)
    return Converted(tuple(wrong), frozenset(variables), frozenset(behind))


def sizes_of(parameters: Collection[tuple[Type, Array]]) -> Sizes:
    """The sizes of the symbols in the types of ``parameters``."""
    sizes: Sizes = {}
    for type_, array in parameters:
        _fits(type_, array.shape, sizes)
    return sizes


def _contradicting(
    each: Conversion, type_: Type, own: Array, sizes: Sizes, *, owns: bool
) -> Wrong | None:
    """``each``, if its static type contradicts the framework's value ``own``."""
    dtype = tvm_api.dtype_of(type_)
    fits = int(type_.ndim) in (-1, own.ndim) and _fits(type_, own.shape, sizes)
    if fits and (not dtype or dtype == str(own.dtype)):
        return None
    at = ", ".join(f"{name_of(symbol)} = {size}" for symbol, size in sizes.items())
    text = f"{tvm_api.show_type(type_)} instead of {kind(own)}"
    text = f"{text} at {at}" if at and symbols_of(type_) else text
    reason = "the Relax variable has another type than the framework's value"
    return Wrong(
        each.step,
        Measured(_INFINITE, difference=text),
        DTYPE if fits else SHAPE,
        reason if owns else _standing(each),
        "" if owns else _shown(each),
    )


def _known_wrong(each: Conversion, values: Values, known: Mapping[str, Array]) -> Wrong | None:
    """``each``, a constant or another name of a variable, if that has another value."""
    if each.constant is not None:
        value = tvm_api.tensor_of(each.constant).numpy()
    elif each.step.variable in known:
        value = known[each.step.variable]
    else:
        return None
    name = each.step.name
    figures = measured(value, values.own[name], values.double.get(name))
    if figures.ratio <= STEP_LIMIT:
        return None
    return Wrong(each.step, figures, VALUE, _standing(each), _shown(each))


def _standing(each: Conversion) -> str:
    if each.constant is not None:
        return "the importer puts a constant in its place"
    return "the importer takes it for another name of a variable that exists"


def _shown(each: Conversion) -> str:
    if each.constant is not None:
        array = tvm_api.tensor_of(each.constant).numpy()
        shown = np.array2string(array.ravel()[:_ELEMENTS], separator=", ")
        more = " …" if array.size > _ELEMENTS else ""
        return f"the constant {shown}{more} of {kind(array)}"
    return each.step.variable or tvm_api.show_type(each.type)


def _fits(type_: Type, shape: tuple[int, ...], sizes: Sizes) -> bool:
    """True unless ``shape`` contradicts ``type_``; puts the sizes of new symbols into ``sizes``."""
    dims = dims_of(type_)
    if dims is None:
        return True
    if len(dims) != len(shape):
        return False
    for dim, size in zip(dims, shape, strict=True):
        if tvm_api.is_variable(dim) and dim not in sizes:
            sizes[dim] = tvm_api.integer(size)
            continue
        known = tvm_api.as_int(substitute(dim, sizes)) if _is_symbolic(dim) else tvm_api.as_int(dim)
        if known is not None and known != size:
            return False
    return True


def _is_symbolic(dim: Any) -> bool:
    """True if ``dim`` is symbolic."""
    return tvm_api.as_int(dim) is None
