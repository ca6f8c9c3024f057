"""Simplicity: a total order of programs, and the size of one in words.

A reduction only goes down this order, so it ends. Parts that a reader has to understand count
first: nodes, then everything else, sizes and values last.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from relaxcheck.generators.core.axes import Family, complete
from relaxcheck.generators.core.case import target_of
from relaxcheck.generators.core.contexts import context_of
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.fills.kinds import Fill, Literal, Offsets, Random
from relaxcheck.generators.core.layouts import familiar_alternatives
from relaxcheck.generators.core.program import (
    CALL,
    EXEC_MODES,
    REGIMES,
    Attribute,
    Case,
    Program,
    ShapeValue,
)
from relaxcheck.generators.core.structure import BRANCH, TUPLE
from relaxcheck.generators.passes.calls import passes_of
from relaxcheck.generators.targets import TARGETS
from relaxcheck.harness.compiling.pipelines import PIPELINES

PLAIN_DTYPE = "float32"

Measure = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """The size of a case for a reader. ``attributes`` counts those away from their defaults."""

    nodes: int
    inputs: int
    bindings: int
    symbols: int
    attributes: int
    largest_dim: int


Defaults = dict[str, dict[str, Attribute]]
"""The defaults of attributes, by operator. An absent attribute has its default, too."""


def defaults_of(families: Iterable[Family]) -> Defaults:
    """The attributes of each operator of ``families`` at the default of every axis."""
    defaults: Defaults = {}
    for family in families:
        case = family.build(complete(family.axes, {}), 0)
        for node in case.program.nodes if isinstance(case, Case) else ():
            defaults.setdefault(node.operator, dict(node.attributes))
    return defaults


def extent(case: Case, defaults: Defaults) -> Extent:
    """Count the nodes, inputs, bindings, symbols and attributes of ``case``."""
    program = case.program
    return Extent(
        len(program.nodes),
        len(program.inputs),
        len(case.bindings),
        len(program.symbols),
        sum(
            value != defaults.get(node.operator, {}).get(name)
            for node in program.nodes
            for name, value in node.attributes.items()
        ),
        max(sizes(case), default=0),
    )


def sizes(case: Case) -> tuple[int, ...]:
    """Every dimension of the inputs of ``case``, at every binding."""
    return tuple(
        size
        for tensor in case.program.inputs
        for binding in (case.bindings if any(map(symbols, tensor.shape)) else ({},))
        for size in case.shape(tensor.name, binding)
    )


def measure(case: Case, defaults: Defaults) -> Measure:
    """The place of ``case`` in the order: the smaller, the simpler."""
    program = case.program
    dims = _dims(program)
    numbers = (*_sizes(dims), *_bound(case))
    return (
        _structure(program),
        len(program.nodes) + sum(len(each.nodes) for each in program.functions.values()),
        len(program.outputs),
        sum(len(node.arguments) for node in program.nodes),
        len(program.inputs),
        bool(program.size_parameters),
        _steps(case.pipeline) + 2 * len(passes_of(case)),
        sum(len(call.options) for call in passes_of(case)),
        len(context_of(case)),
        case.pipeline != next(iter(PIPELINES)),
        list(TARGETS).index(target_of(case)),
        EXEC_MODES.index(case.exec_mode),
        case.opt_level,
        len(case.also),
        len(program.symbols),
        len(case.bindings),
        sum(1 for dim in dims if symbols(dim)),
        sum(len(dim) for dim in dims if isinstance(dim, str)),
        sum(len(node.attributes) for node in program.nodes),
        sum(tensor.dtype != PLAIN_DTYPE for tensor in program.inputs),
        sum(tensor.constant for tensor in program.inputs),
        REGIMES.index(case.regime),
        sum(
            _cost(value, defaults.get(node.operator, {}).get(name))
            for node in program.nodes
            for name, value in node.attributes.items()
        ),
        # Size 0 is special: a failure with it is seldom the failure with size 1.
        sum(number == 0 for number in numbers),
        sum(numbers),
        sum(_fill_cost(tensor.fill) for tensor in program.inputs),
        case.seed,
    )


def _structure(program: Program) -> int:
    """Count conditionals, calls of functions, tuples and nodes apart: a reader follows them."""
    own = sum(node.operator in (BRANCH, CALL, TUPLE) for node in program.nodes)
    return own + len(program.apart)


def _steps(pipeline: str) -> int:
    known = PIPELINES.get(pipeline)
    if known is None:
        return 0
    return 2 * len(known.before) + (known.relax_pipeline != "default")


def _dims(program: Program) -> tuple[Dim, ...]:
    dims: list[Dim] = []
    for tensor in program.inputs:
        dims += tensor.shape
        if isinstance(tensor.fill, Offsets):
            dims.append(tensor.fill.total)
    return tuple(dims)


def _sizes(dims: tuple[Dim, ...]) -> tuple[int, ...]:
    return tuple(dim for dim in dims if isinstance(dim, int))


def _bound(case: Case) -> tuple[int, ...]:
    return tuple(value for binding in case.bindings for value in binding.values())


def _cost(value: Attribute, default: Attribute) -> float:
    """The distance of ``value`` from ``default``, or from the simplest of its type."""
    match value:
        case bool():
            return float(value)
        case int() | float():
            return number_cost(value, number(default))
        case tuple():
            wanted = elements(default, len(value))
            far = (number_cost(number_at, to) for number_at, to in zip(value, wanted, strict=True))
            return sum(far) + len(value)
        case ShapeValue(dims=dims):
            return sum(number_cost(dim) if isinstance(dim, int) else 8.0 for dim in dims)
        case str():
            # A layout that nobody uses takes a reader longer.
            return len(value) + 0.5 * bool(familiar_alternatives(value))
    return 0.0


def number(default: Attribute) -> float:
    """``default`` if it is a number, else 1."""
    return default if isinstance(default, int | float) and not isinstance(default, bool) else 1


def elements(default: Attribute, length: int) -> tuple[float, ...]:
    """The elements of ``default``, repeated to ``length``; ones if it is no list."""
    if not isinstance(default, tuple) or not default:
        return (1,) * length
    return tuple(default[at % len(default)] for at in range(length))


def number_cost(value: float, simplest: float = 1) -> float:
    """The distance of ``value`` from ``simplest``; downwards counts a little more than upwards."""
    return value - simplest if value >= simplest else simplest - value + 0.5


def _fill_cost(fill: Fill) -> float:
    """Costs: ones, then zeros, then drawn values, then other values written out."""
    match fill:
        case Random():
            return 0.9
        case Literal(values=values):
            if not any(value != 1 for value in values):
                return 0.0
            if not any(values):
                return 0.5
            return 1.0 + sum(number_cost(number) for number in values)
    return 0.0
