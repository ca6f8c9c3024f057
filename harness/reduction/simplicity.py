"""Which of two cases is the simpler one: a total order, and what a person is told of it.

A reduction only ever goes down this order, so it ends. What a reader has to understand comes first:
how many nodes, then how much of everything else, sizes and values last.
"""

from dataclasses import dataclass

from generators.dims import Dim, symbols
from generators.program import (
    EXEC_MODES,
    REGIMES,
    Attribute,
    Case,
    Fill,
    Literal,
    Offsets,
    Program,
    Random,
    ShapeValue,
)
from harness.pipelines import PIPELINES

PLAIN_DTYPE = "float32"

Measure = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """How big a case is, for a person. ``attributes`` counts those away from their defaults."""

    nodes: int
    inputs: int
    bindings: int
    symbols: int
    attributes: int
    largest_dim: int


Defaults = dict[str, dict[str, Attribute]]
"""Operator to its attributes' defaults. An attribute that is absent is at its default, too."""


def extent(case: Case, defaults: Defaults) -> Extent:
    """How big ``case`` is."""
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
        for given in case.program.inputs
        for binding in (case.bindings if any(map(symbols, given.shape)) else ({},))
        for size in case.shape(given.name, binding)
    )


def measure(case: Case, defaults: Defaults) -> Measure:
    """The place of ``case`` in the order: of two cases the one with the smaller is the simpler."""
    program = case.program
    dims = _dims(program)
    numbers = (*_sizes(dims), *_bound(case))
    return (
        len(program.nodes),
        len(program.outputs),
        sum(len(node.arguments) for node in program.nodes),
        len(program.inputs),
        _steps(case.pipeline),
        EXEC_MODES.index(case.exec_mode),
        case.opt_level,
        len(case.also),
        len(program.symbols),
        len(case.bindings),
        sum(1 for dim in dims if symbols(dim)),
        sum(len(dim) for dim in dims if isinstance(dim, str)),
        sum(len(node.attributes) for node in program.nodes),
        sum(given.dtype != PLAIN_DTYPE for given in program.inputs),
        sum(given.constant for given in program.inputs),
        REGIMES.index(case.regime),
        sum(
            _cost(value, defaults.get(node.operator, {}).get(name))
            for node in program.nodes
            for name, value in node.attributes.items()
        ),
        # Nothing is a size of its own kind: what fails with it is seldom what fails with 1.
        sum(number == 0 for number in numbers),
        sum(numbers),
        sum(_fill_cost(given.fill) for given in program.inputs),
        case.seed,
    )


def _steps(pipeline: str) -> int:
    known = PIPELINES.get(pipeline)
    if known is None:
        return 0
    return 2 * len(known.before) + (known.relax_pipeline != "default")


def _dims(program: Program) -> tuple[Dim, ...]:
    found: list[Dim] = []
    for given in program.inputs:
        found += given.shape
        if isinstance(given.fill, Offsets):
            found.append(given.fill.total)
    return tuple(found)


def _sizes(dims: tuple[Dim, ...]) -> tuple[int, ...]:
    return tuple(dim for dim in dims if isinstance(dim, int))


def _bound(case: Case) -> tuple[int, ...]:
    return tuple(value for binding in case.bindings for value in binding.values())


def _cost(value: Attribute, default: Attribute) -> float:
    """How far ``value`` is from ``default``, or from the simplest of its type."""
    match value:
        case bool():
            return float(value)
        case int() | float():
            return number_cost(value, number(default))
        case tuple():
            wanted = elements(default, len(value))
            far = (number_cost(one, to) for one, to in zip(value, wanted, strict=True))
            return sum(far) + len(value)
        case ShapeValue(dims=dims):
            return sum(number_cost(one) if isinstance(one, int) else 8.0 for one in dims)
        case str():
            return float(len(value))
    return 0.0


def number(default: Attribute) -> float:
    """The number that ``default`` is; 1 where it is none."""
    return default if isinstance(default, int | float) and not isinstance(default, bool) else 1


def elements(default: Attribute, length: int) -> tuple[float, ...]:
    """The elements of ``default``, over and over, for a list of ``length``; 1 where it is none."""
    if not isinstance(default, tuple) or not default:
        return (1,) * length
    return tuple(default[at % len(default)] for at in range(length))


def number_cost(value: float, simplest: float = 1) -> float:
    """How far ``value`` is from ``simplest``; downwards counts a little more than upwards."""
    return value - simplest if value >= simplest else simplest - value + 0.5


def _fill_cost(fill: Fill) -> float:
    """Ones, then zeros, then what is drawn, then other values written out."""
    match fill:
        case Random():
            return 0.9
        case Literal(values=values):
            if not any(value != 1 for value in values):
                return 0.0
            if not any(values):
                return 0.5
            return 1.0 + sum(number_cost(one) for one in values)
    return 0.0
