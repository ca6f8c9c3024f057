"""The grids of the conformance suite: points of each family, run without drawing.

Small: every value of every axis of every family, every pair of some. Default: every pair of values,
and the layouts in use in every combination. Full: all permutations of layouts too.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

from relaxcheck.generators.core.axes import Axis, Family, Point, run_axes
from relaxcheck.generators.core.coverage import each_once
from relaxcheck.generators.core.coverage.covering import complete_with, covering
from relaxcheck.generators.core.points import narrowed
from relaxcheck.generators.families import families, family
from relaxcheck.harness.compiling.pipelines import PIPELINES

LAYOUT_AXES = ("data_layout", "kernel_layout", "out_layout")
DILATIONS = (1, 2, 3)

# Channels first, last, outermost, packed: the layouts that people use.
IN_USE: dict[str, dict[str, tuple[str | None, ...]]] = {
    "conv2d_transpose": {
        "data_layout": ("NCHW", "NHWC", "CHWN", "NCHW4c"),
        "kernel_layout": ("IOHW", "OIHW", "HWIO", "HWOI", "IOHW4i4o"),
        "out_layout": (None, "NCHW", "NHWC", "CHWN", "NCHW4c"),
    },
    "conv3d_transpose": {
        "data_layout": ("NCDHW", "NDHWC", "CDHWN", "NCDHW4c"),
        "kernel_layout": ("IODHW", "OIDHW", "DHWIO", "DHWOI", "IODHW4i4o"),
        "out_layout": (None, "NCDHW", "NDHWC", "CDHWN", "NCDHW4c"),
    },
}

# A wide float, narrow ones, one that is accumulated in another, an integer.
DTYPES = ("float32", "bfloat16", "float16", "float16->float32", "int8->int32")

Grid = Callable[[], tuple[Point, ...]]

(OPT_LEVEL,) = (axis for axis in run_axes(tuple(PIPELINES)) if axis.name == "opt_level")


def member(name: str) -> Family:
    """The family ``name`` with every pipeline."""
    return family(name, tuple(PIPELINES))


def values(axis: Axis, *, packed: bool) -> tuple[object, ...]:
    """The layouts of ``axis``; unpacked ones are those without a factor."""
    return tuple(
        value
        for value in axis.values
        if packed or value is None or not any(sign.isdigit() for sign in str(value))
    )


def layouts_by_dilation(name: str, layouts: dict[str, tuple[object, ...]]) -> Iterator[Point]:
    """Every combination of ``layouts``, dilation 1, 2, 3 in all directions, static and symbolic."""
    axes = member(name).axes
    dilations = [axis.name for axis in axes if axis.name.startswith("dilation.")]
    symbolic = [
        axis.name
        for axis in axes
        if axis.name.startswith("symbolic.") and not axis.name.endswith("channels")
    ]
    for *chosen, dilation, moving in product(*layouts.values(), DILATIONS, (False, True)):
        point = complete_with(
            axes,
            dict(zip(layouts, chosen, strict=True))
            | dict.fromkeys(dilations, dilation)
            | dict.fromkeys(symbolic, moving),
        )
        if point is None:
            raise AssertionError(f"{name}: no valid point with {chosen}")
        yield point


def every_permutation(name: str) -> tuple[Point, ...]:
    """Every permutation of data, kernel and output layout, by dilation, static and symbolic."""
    by_name = {axis.name: axis for axis in member(name).axes}
    layouts = {name: values(by_name[name], packed=False) for name in LAYOUT_AXES}
    return tuple(layouts_by_dilation(name, layouts))


def in_use(name: str) -> tuple[Point, ...]:
    """Every combination of the layouts in use, by dilation, static and symbolic."""
    return tuple(layouts_by_dilation(name, dict(IN_USE[name])))


def pairs(name: str) -> tuple[Point, ...]:
    """A covering array: every pair of values of any two axes that a valid point has."""
    return mostly_cheap(covering(member(name).axes))


def mostly_cheap(rows: tuple[Point, ...]) -> tuple[Point, ...]:
    """``rows`` with the default optimisation level wherever pairs do not need another.

    Another level costs several times as much; a row keeps it where one of the row's values has not
    been at that level before. The pairs that the rows hold stay the same.
    """
    seen: set[tuple[str, object]] = set()
    kept: list[Point] = []
    for row in rows:
        values = {item for item in row.items() if item[0] != OPT_LEVEL.name}
        if row[OPT_LEVEL.name] != OPT_LEVEL.default and not values <= seen:
            seen |= values
            kept.append(row)
        else:
            kept.append({**row, OPT_LEVEL.name: OPT_LEVEL.default})
    return tuple(kept)


def cheap_pairs(name: str) -> tuple[Point, ...]:
    """As ``pairs``, with LLVM's level, which costs most, at its default."""
    return covering(narrowed(member(name).axes, {OPT_LEVEL.name: (OPT_LEVEL.default,)}))


def pairs_with(name: str, layout: str) -> tuple[Point, ...]:
    """As ``pairs``, where the layout axes other than ``layout`` have the layouts in use only.

    Five letters have 120 permutations, and three layout axes with all of them 17,000 rows of pairs
    of odd layouts; so each axis takes all its layouts while the others take those in use. LLVM's
    level stays at its default, and each kind of dtype has one: where there are fewer layouts all
    are paired with everything.
    """
    kept = {axis: IN_USE[name][axis] for axis in LAYOUT_AXES if axis != layout}
    kept[OPT_LEVEL.name] = (OPT_LEVEL.default,)
    kept["dtype"] = DTYPES
    return covering(narrowed(member(name).axes, kept))


def every_value(name: str) -> tuple[Point, ...]:
    """Valid points in which every value of every axis occurs, most of them at once.

    LLVM's level, which costs most, stays at its default; a value without a valid point is left out.
    """
    return each_once.every_value(_cheaply(name))


def every_cell(name: str) -> tuple[Point, ...]:
    """As ``every_value``, with a value of every cell of every axis."""
    return each_once.every_cell(_cheaply(name))


def _cheaply(name: str) -> tuple[Axis, ...]:
    return narrowed(member(name).axes, {OPT_LEVEL.name: (OPT_LEVEL.default,)})


_DEFAULT: dict[str, Grid] = {
    "conv1d_transpose-permutations": lambda: every_permutation("conv1d_transpose"),
    "conv2d_transpose-in_use": lambda: in_use("conv2d_transpose"),
    "conv3d_transpose-in_use": lambda: in_use("conv3d_transpose"),
    "conv3d_transpose-pairs-data": lambda: pairs_with("conv3d_transpose", "data_layout"),
    "conv3d_transpose-pairs-kernel": lambda: pairs_with("conv3d_transpose", "kernel_layout"),
    "conv3d_transpose-pairs-out": lambda: pairs_with("conv3d_transpose", "out_layout"),
}
"""The grids of ``--grid default`` beside ``values`` and ``pairs`` of each family, and
``cheap_pairs`` of those in ``_PAIRED_CHEAPLY``."""

_FULL: dict[str, Grid] = {
    "conv2d_transpose-permutations": lambda: every_permutation("conv2d_transpose"),
    "conv3d_transpose-pairs": lambda: pairs("conv3d_transpose"),
}
"""Those of ``--grid full`` beside these."""

_PAIRED_CHEAPLY = ("attention", "attention_var_len", "conv1d_transpose")
"""Families with pairs of values at LLVM's default level: the ones with the most known faults."""

SIZES = {
    "conv1d_transpose-permutations": 6,
    "conv1d_transpose-cheap_pairs": 4,
    "conv1d_transpose-pairs": 4,
    "conv2d_transpose-in_use": 4,
    "conv2d_transpose-pairs": 4,
    "conv2d_transpose-permutations": 200,
    "conv3d_transpose-in_use": 4,
    "conv3d_transpose-pairs": 60,
    "conv3d_transpose-pairs-data": 4,
    "conv3d_transpose-pairs-kernel": 4,
    "conv3d_transpose-pairs-out": 4,
}
"""Tests that a large grid is split into, so that parallel processes share it evenly."""


@cache
def _all() -> dict[str, dict[str, Grid]]:
    """The grids by name, by the smallest size of grid that has them."""
    programs = [family.name for family in families(tuple(PIPELINES))]
    cells = {f"{name}-cells": partial(every_cell, name) for name in programs}
    values = {f"{name}-values": partial(every_value, name) for name in programs}
    paired = {f"{name}-pairs": partial(pairs, name) for name in programs}
    paired = {name: grid for name, grid in paired.items() if name not in _FULL}
    cheap = {f"{name}-cheap_pairs": partial(cheap_pairs, name) for name in _PAIRED_CHEAPLY}
    return {"small": cells, "default": values | cheap | paired | _DEFAULT, "full": _FULL}


def names(size: str) -> tuple[str, ...]:
    """The grids of ``--grid SIZE``: small, default or full. A larger size has the smaller."""
    sizes = ("small", "default", "full")
    return tuple(name for each in sizes[: sizes.index(size) + 1] for name in _all()[each])


_FIRST = 3
"""The first test of a small grid has one row in so many."""


def is_small(name: str) -> bool:
    """True of the grids that ``--grid small`` has."""
    return name in _all()["small"]


def chunks(name: str) -> int:
    """The number of tests that the grid ``name`` is split into."""
    return 2 if is_small(name) else SIZES.get(name, 1)


def part(name: str, chunk: int) -> tuple[Point, ...]:
    """The points of test ``chunk`` of the grid ``name``.

    The first rows of a small grid have the most cells: its first test has those, and none of the
    axes of few values is left for the second.
    """
    rows = points(name)
    if not is_small(name):
        return rows[chunk :: chunks(name)]
    first = -(-len(rows) // _FIRST)
    return rows[first:] if chunk else rows[:first]


@cache
def points(name: str) -> tuple[Point, ...]:
    """The points of the grid ``name``."""
    return next(grids[name] for grids in _all().values() if name in grids)()
