"""Reductions, places of the largest and smallest element, running sums and products."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import DTYPE, Fits, at_least
from relaxcheck.generators.core.points import Given, integer, toggle
from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.operators.choices import (
    axes_choice,
    axis_choice,
    counted,
    nonempty_axis,
    numbers,
)
from relaxcheck.generators.operators.faults import AXIS, attribute_is, axis_out_of_range
from relaxcheck.generators.operators.record import (
    FLOATS,
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
)

_RANKS = (2, 1, 3, 4)


def _reduced(shape: Sequence[Dim], axes: Sequence[int], keep: bool) -> tuple[Dim, ...]:
    return tuple(1 if at in axes else dim for at, dim in enumerate(shape) if keep or at not in axes)


def _has_one(shape: Sequence[Dim]) -> bool:
    """Return True if some axis has an element, and so can be reduced."""
    return any(at_least(dim, 1) for dim in shape)


def _reduction(name: str, least: int) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        axes, keep = numbers(point, "axis"), bool(point["keepdims"])
        over = counted(axes, value.rank)
        for at in over:
            draft.require(value.shape[at], least)
        attributes: dict[str, program.Attribute] = {} if axes is None else {"axis": axes}
        draft.call(name, [value], _reduced(value.shape, over, keep), keepdims=keep, **attributes)

    return apply


def _reduction_axes(least: int) -> tuple[Axis, ...]:
    any_axes = axes_choice()

    def holds(shape: Sequence[Dim], value: str | None) -> bool:
        point = {"rank": len(shape), any_axes.name: value}
        return any_axes.allowed(point, value) and all(
            at_least(shape[at], least) for at in counted(numbers(point, "axis"), len(shape))
        )

    return (
        Axis("axis", any_axes.values, any_axes.default, Fits(holds)),
        toggle("keepdims"),
    )


def _record(
    name: str,
    meaning: str,
    numerics: Numerics,
    dtypes: tuple[str, ...] = FLOATS,
    least: int = 0,
) -> Operator:
    return Operator(
        name,
        meaning=f"{meaning} Over the axes given, or over all; with keepdims they stay, of size 1.",
        source=f"docstring of relax.op.{name}; MEANINGS.md, Elementwise, reductions",
        operands=(Operand("x", ranks=_RANKS, dtypes=dtypes),),
        attributes=(Attribute("axis", "axes", None), Attribute("keepdims", "bool", False)),
        axes=_reduction_axes(least),
        apply=_reduction(name, least),
        numerics=numerics,
        requires="an element along each axis reduced" if least else "",
        operand_fits=_has_one if least else None,
        faults=(
            axis_out_of_range(name),
            attribute_is("axis-repeated", name, "axis", (0, 0), (*AXIS, "repeat", "duplicate")),
        ),
    )


def _place(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        keep = bool(point["keepdims"])
        axes = None if point["axis"] is None else (integer(point, "axis"),)
        over = counted(axes, value.rank)
        for at in over:
            draft.require(value.shape[at], 1)
        attributes: dict[str, program.Attribute] = {} if axes is None else {"axis": axes[0]}
        shape = _reduced(value.shape, over, keep)
        draft.call(name, [value], shape, "int64", keepdims=keep, **attributes)

    return apply


def _placed(name: str, which: str) -> Operator:
    return Operator(
        name,
        meaning=f"Where the {which} element is along one axis, or in all of them in row-major "
        "order: the first of equal ones.",
        source=f"docstring of relax.op.{name}; torch.{name}",
        operands=(Operand("x", ranks=_RANKS, dtypes=(*FLOATS, "int32")),),
        attributes=(Attribute("axis", "axis", None), Attribute("keepdims", "bool", False)),
        axes=(nonempty_axis(all_axes=True), toggle("keepdims")),
        apply=_place(name),
        numerics=Numerics.COPIES,
        requires="an element along each axis searched",
        operand_fits=_has_one,
        faults=(axis_out_of_range(name),),
    )


def _scan(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        attributes: dict[str, program.Attribute] = {}
        shape: tuple[Dim, ...] = value.shape
        if point["axis"] is None:
            shape = (times(*value.shape),)
        else:
            attributes["axis"] = integer(point, "axis")
        if point["exclusive"]:
            attributes["exclusive"] = True
        dtype = point["out_dtype"]
        if dtype is None:
            draft.call(name, [value], shape, **attributes)
        else:
            draft.call(name, [value], shape, str(dtype), dtype=dtype, **attributes)

    return apply


def _scanned(name: str, scan: str) -> Operator:
    signed = axis_choice()
    return Operator(
        name,
        meaning=f"The {scan} of the elements up to each along one axis, or of the flattened "
        "operand; without itself where exclusive. The operand is cast to dtype first.",
        source=f"docstring of relax.op.{name}; torch.{name}",
        operands=(Operand("data", ranks=_RANKS, dtypes=(*FLOATS, "int32")),),
        attributes=(
            Attribute("axis", "axis", None),
            Attribute("dtype", "dtype", None),
            Attribute("exclusive", "bool", False),
        ),
        axes=(
            Axis(
                "axis",
                (*signed.values, None),
                -1,
                lambda point, axis: axis is None or signed.allowed(point, axis),
            ),
            toggle("exclusive"),
            Axis(
                "out_dtype",
                (None, "float64", "int64"),
                None,
                Given((DTYPE,), lambda dtype, to: to is None or to[0] == dtype[0]),
                default_weight=4,
            ),
        ),
        apply=_scan(name),
        numerics=Numerics.ACCUMULATES,
        faults=(axis_out_of_range(name),),
    )


_SUMS = (*FLOATS, "int32", "int64")
_SUM, _ROUND = Numerics.ACCUMULATES, Numerics.ROUNDS

OPERATORS = (
    _record("sum", "The sum of elements.", _SUM, _SUMS),
    _record("prod", "The product of elements.", _SUM, _SUMS),
    _record("mean", "The sum of elements divided by their number.", _SUM, least=1),
    _record("max", "The largest element.", _ROUND, (*FLOATS, "int32", "int8"), least=1),
    _record("min", "The smallest element.", _ROUND, (*FLOATS, "int32", "int8"), least=1),
    _record(
        "variance", "The mean of squared differences from the mean.", Numerics.ACCUMULATES, least=1
    ),
    _record("std", "The square root of the variance.", Numerics.ACCUMULATES, least=1),
    _placed("argmax", "largest"),
    _placed("argmin", "smallest"),
    _scanned("cumsum", "sum"),
    _scanned("cumprod", "product"),
)
