"""Operators that join tensors, take them apart, and repeat them."""

from collections.abc import Sequence
from itertools import pairwise

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import RANK, Fits, at_least, divides
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.core.polynomials import minus, over, plus, times
from relaxcheck.generators.core.program import ITEM
from relaxcheck.generators.operators.choices import (
    axis_choice,
    extent,
    extent_choice,
    numbers,
    replaced,
)
from relaxcheck.generators.operators.faults import (
    AXIS,
    argument_grown,
    argument_rank,
    attribute_is,
    axis_out_of_range,
)
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator
from relaxcheck.generators.operators.shape import DTYPES

_NO_BOOL = DTYPES[:-1]


def _concat(draft: Draft, value: Value, point: Point) -> None:
    axis = integer(point, "axis")
    at = axis % value.rank
    match text(point, "others"):
        case "itself":
            others = [value]
        case "one":
            others = [_beside(draft, value, at, point)]
        case "two":
            others = [_beside(draft, value, at, point), draft.operand(value.shape, value.dtype)]
        case _:
            others = []
    joined = [*others, value] if point["order"] == "last" else [value, *others]
    size = plus(*(each.shape[at] for each in joined))
    draft.call("concat", joined, replaced(value.shape, at, size), axis=axis)


def _beside(draft: Draft, value: Value, at: int, point: Point) -> Value:
    size = extent(draft, value, point, "size")
    return draft.operand(replaced(value.shape, at, size), value.dtype)


def _stack(draft: Draft, value: Value, point: Point) -> None:
    axis = integer(point, "axis")
    others = [value] if point["others"] == "itself" else []
    if point["others"] in ("one", "two"):
        count = ("one", "two").index(text(point, "others")) + 1
        others = [draft.operand(value.shape, value.dtype) for _ in range(count)]
    at = axis % (value.rank + 1)
    shape = (*value.shape[:at], 1 + len(others), *value.shape[at:])
    draft.call("stack", [value, *others], shape, axis=axis)


def _split(draft: Draft, value: Value, point: Point) -> None:
    axis = integer(point, "axis")
    at = axis % value.rank
    dim, parts = value.shape[at], numbers(point, "parts")
    assert parts is not None
    sections: program.Attribute
    if point["by"] == "sections":
        (sections,) = parts
        draft.require(dim, 0, sections)
        sizes: list[Dim] = [over(dim, sections)] * sections
    else:
        sections = parts
        draft.require(dim, parts[-1])
        ends: list[Dim] = [0, *parts, dim]
        sizes = [minus(last, first) for first, last in pairwise(ends)]
    attributes = {"indices_or_sections": sections, "axis": axis}
    items = {"all": range(len(sizes)), "first": (0,), "last": (len(sizes) - 1,)}
    for item in items[text(point, "items")]:
        shape = replaced(value.shape, at, sizes[item])
        draft.call("split", [value], shape, **attributes, **{ITEM: item})


_SECTIONS = (2, 3)
"""TVM gives no tuple for a single section."""


def _by(shape: Sequence[Dim], axis: int, by: str) -> bool:
    if by == "indices":
        return at_least(shape[axis], 1)
    return any(divides(count, shape[axis]) for count in _SECTIONS)


def _parts(shape: Sequence[Dim], axis: int, by: str, value: str) -> bool:
    parts = [int(part) for part in value.split(", ")]
    if by == "sections":
        return len(parts) == 1 and parts[0] in _SECTIONS and divides(parts[0], shape[axis])
    return at_least(shape[axis], parts[-1])


def _repeat(draft: Draft, value: Value, point: Point) -> None:
    repeats = integer(point, "repeats")
    if point["axis"] is None:
        shape: tuple[Dim, ...] = (times(repeats, *value.shape),)
        draft.call("repeat", [value], shape, repeats=repeats)
        return
    axis = integer(point, "axis")
    at = axis % value.rank
    shape = replaced(value.shape, at, times(repeats, value.shape[at]))
    draft.call("repeat", [value], shape, repeats=repeats, axis=axis)


def _tile(draft: Draft, value: Value, point: Point) -> None:
    counts = {
        "last": (2,),
        "all": (2,) * value.rank,
        "different": tuple(range(1, value.rank + 1)),
        "deeper": (2, *(1,) * value.rank),
        "once": (1,) * value.rank,
    }[text(point, "repeats")]
    rank = max(len(counts), value.rank)
    each = (1,) * (rank - len(counts)) + counts
    dims = (1,) * (rank - value.rank) + value.shape
    shape = [times(count, dim) for count, dim in zip(each, dims, strict=True)]
    draft.call("tile", [value], shape, repeats=counts)


_SIGNED = axis_choice()

OPERATORS = (
    Operator(
        "concat",
        meaning="The operands one after another along an axis; other dimensions are alike.",
        source="docstring of relax.op.concat; torch.cat",
        operands=(Operand("tensors", ranks=(2, 1, 3, 4), dtypes=DTYPES, many=True),),
        attributes=(Attribute("axis", "axis", 0),),
        axes=(
            _SIGNED,
            Axis("others", ("one", "two", "itself", "none"), "one", default_weight=2),
            extent_choice("size"),
            Axis("order", ("first", "last"), "first"),
        ),
        apply=_concat,
        faults=(
            axis_out_of_range("concat"),
            argument_grown(
                "concat",
                1,
                axis=0,
                pinned={"rank": 2, "axis": -1, "others": "one", "order": "first"},
            ),
            argument_rank("concat", 1, pinned={"others": "one", "order": "first"}),
        ),
        numerics=Numerics.COPIES,
        requires="sizes that differ along the axis only",
    ),
    Operator(
        "stack",
        meaning="Operands of one shape along a new axis.",
        source="docstring of relax.op.stack; torch.stack",
        operands=(Operand("tensors", ranks=(2, 0, 1, 3), dtypes=DTYPES, many=True),),
        attributes=(Attribute("axis", "axis", 0),),
        axes=(
            Axis(
                "axis",
                (0, -1, 1, 2, 3, -2, -3),
                0,
                Given((RANK,), lambda rank, axis: -rank - 1 <= axis <= rank),
            ),
            Axis("others", ("one", "two", "itself", "none"), "one"),
        ),
        apply=_stack,
        faults=(
            attribute_is("axis-out-of-range", "stack", "axis", 9, AXIS),
            argument_grown("stack", 1, pinned={"rank": 2, "others": "one"}),
        ),
        numerics=Numerics.COPIES,
        requires="one shape",
    ),
    Operator(
        "split",
        meaning="Parts along an axis: equal sections, or those between the given indices.",
        source="docstring of relax.op.split; MEANINGS.md, Moving elements",
        operands=(Operand("x", ranks=(2, 1, 3, 4), dtypes=DTYPES),),
        attributes=(Attribute("indices_or_sections", "ints"), Attribute("axis", "axis", 0)),
        axes=(
            _SIGNED,
            Axis("by", ("indices", "sections"), "indices", Fits(_by, ("axis",))),
            Axis(
                "parts",
                # Indices ascend from above 0.
                ("1", "2", "3", "1, 2", "1, 3"),
                "1",
                Fits(_parts, ("axis", "by")),
            ),
            Axis("items", ("all", "first", "last"), "all"),
        ),
        apply=_split,
        faults=(
            axis_out_of_range("split"),
            attribute_is(
                "sections-zero",
                "split",
                "indices_or_sections",
                0,
                ("sections",),
                {"items": "first"},
            ),
        ),
        numerics=Numerics.COPIES,
        requires="a size that the number of sections divides, indices within the axis",
    ),
    Operator(
        "repeat",
        meaning="Each element several times along an axis, or of the flattened operand.",
        source="docstring of relax.op.repeat; torch.repeat_interleave",
        operands=(Operand("data", ranks=(2, 1, 3, 4), dtypes=_NO_BOOL),),
        attributes=(Attribute("repeats", "int"), Attribute("axis", "axis", None)),
        axes=(
            Axis(
                "axis",
                (*_SIGNED.values, None),
                -1,
                Given((RANK,), lambda rank, axis: axis is None or -rank <= axis < rank),
            ),
            Axis("repeats", (2, 1, 3), 2),
        ),
        apply=_repeat,
        faults=(
            axis_out_of_range("repeat"),
            attribute_is("repeats-negative", "repeat", "repeats", -1),
        ),
        numerics=Numerics.COPIES,
    ),
    Operator(
        "tile",
        meaning="The operand repeated along each axis; the shorter of its shape and the counts "
        "is filled with ones in front.",
        source="docstring of relax.op.tile; numpy.tile",
        operands=(Operand("data", ranks=(2, 1, 3), dtypes=_NO_BOOL),),
        attributes=(Attribute("repeats", "ints"),),
        axes=(Axis("repeats", ("last", "all", "different", "deeper", "once"), "last"),),
        apply=_tile,
        numerics=Numerics.COPIES,
    ),
)
