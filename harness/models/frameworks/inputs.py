"""The inputs of a model, its symbolic dimensions, and drawn values for both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sympy import sympify

from relaxcheck.generators.core.values import Array

Dim = int | str
"""A size, or an expression of symbols as text."""

Binding = Mapping[str, int]

USUAL = (1, 2, 7)
"""The sizes at which a model runs, besides its own, where nobody names any."""

_RANGES = (2, 10, 100, 1_000, 100_000)
"""Exclusive limits that are tried for integers, the smallest first."""


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor that the user passes. ``example`` is one that the model is known to take."""

    name: str
    dims: tuple[Dim, ...]
    dtype: np.dtype[np.generic]
    example: Array | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbolic dimension: its size in the examples, its limits, and other names for it."""

    name: str
    own: int = 2
    least: int = 0
    most: int | None = None
    aliases: tuple[str, ...] = field(default=())

    @property
    def shown(self) -> str:
        """The name that a user knows."""
        return self.aliases[0] if self.aliases else self.name

    def allows(self, size: int) -> bool:
        """True if ``size`` is within the limits."""
        return self.least <= size and (self.most is None or size <= self.most)


def shape(dims: Sequence[Dim], binding: Binding) -> tuple[int, ...]:
    """``dims`` at the sizes of ``binding``."""
    return tuple(
        dim if isinstance(dim, int) else binding[dim] if dim in binding else _value(dim, binding)
        for dim in dims
    )


def _value(dim: str, binding: Binding) -> int:
    return int(sympify(dim, locals={}).subs(dict(binding)))


def bindings(
    symbols: Sequence[Symbol], wanted: Mapping[str, Sequence[int]]
) -> tuple[dict[str, int], ...]:
    """The bindings to run at: the model's own sizes, then each of the sizes that are ``wanted``.

    ``wanted`` is by name or alias. The n-th sizes of all symbols are run together; a symbol that is
    not named has the usual ones, within its limits.

    Raises:
        ValueError: there is no such symbol, or it does not allow a size.
    """
    left = set(wanted)
    own = {symbol.name: symbol.own for symbol in symbols}
    sizes: dict[str, list[int]] = {}
    for symbol in symbols:
        names = [name for name in (symbol.name, *symbol.aliases) if name in wanted]
        left.difference_update(names)
        if not names:
            sizes[symbol.name] = [size for size in USUAL if symbol.allows(size)] or [symbol.own]
            continue
        sizes[symbol.name] = list(wanted[names[0]])
        for size in sizes[symbol.name]:
            if not symbol.allows(size):
                most = "" if symbol.most is None else f" to {symbol.most}"
                raise ValueError(f"{names[0]} is from {symbol.least}{most}, not {size}")
    if left:
        known = ", ".join(name for each in symbols for name in (each.name, *each.aliases))
        lacking = ", ".join(sorted(left))
        raise ValueError(f"the model has no symbolic dimension {lacking}; it has {known or 'none'}")
    if wanted:
        # The user says at which sizes.
        own = {name: values[0] for name, values in sizes.items()} | {
            symbol.name: symbol.own for symbol in symbols if symbol.name not in sizes
        }
    result = [own]
    for turn in range(max(map(len, sizes.values()), default=0)):
        each = {name: values[min(turn, len(values) - 1)] for name, values in sizes.items()}
        if each not in result:
            result.append(each)
    return tuple(result)


@dataclass(frozen=True, slots=True)
class Ranges:
    """The exclusive limit of the integers of each input that has no example."""

    limits: Mapping[str, int]


def ranges(
    inputs: Sequence[Input], binding: Binding, runs: Callable[[list[Array]], bool]
) -> Ranges:
    """Find how large the integers of each input may be, by running the model.

    Where the largest of ``_RANGES`` is accepted, the values are no indices: they are 0 or 1, which
    a mask takes, too.
    """
    limits = {each.name: 2 for each in inputs if each.dtype.kind in "iu"}
    for name in list(limits):
        for limit in _RANGES[1:]:
            trial = Ranges(limits | {name: limit})
            if not runs(drawn(inputs, binding, 0, trial)):
                break
            limits[name] = limit
        if limits[name] == _RANGES[-1]:
            limits[name] = 2
    return Ranges(limits)


def drawn(inputs: Sequence[Input], binding: Binding, seed: int, limits: Ranges) -> list[Array]:
    """Values of all ``inputs`` at the sizes of ``binding``.

    Floats have the mean and the deviation of the example, else 0 and 1. Integers are in the range
    of the example, else below their limit. An example that is constant gives that constant.
    """
    generator = np.random.default_rng(seed)
    return [_drawn(each, shape(each.dims, binding), generator, limits) for each in inputs]


def _drawn(
    each: Input, dims: tuple[int, ...], generator: np.random.Generator, limits: Ranges
) -> Array:
    example = each.example
    known = example is not None and example.size > 0
    if known and example is not None and (example == example.flat[0]).all() and example.size > 1:
        return np.full(dims, example.flat[0], each.dtype)
    if each.dtype.kind == "b":
        return generator.integers(0, 2, dims).astype(np.bool_)
    if each.dtype.kind in "iu":
        low, high = 0, limits.limits.get(each.name, 2)
        if known and example is not None:
            low, high = int(example.min()), int(example.max()) + 1
        return generator.integers(low, high, dims).astype(each.dtype)
    values = generator.standard_normal(dims)
    if known and example is not None and example.size > 1:
        wide = example.astype(np.float64)
        if np.isfinite(wide).all():
            values = values * wide.std() + wide.mean()
    return values.astype(each.dtype)
