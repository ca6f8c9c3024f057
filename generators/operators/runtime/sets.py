"""Operators whose results have as many elements as the data decide."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.fills.kinds import Below, Within
from relaxcheck.generators.core.operand import DTYPE, RANK, Fits, at_least
from relaxcheck.generators.core.points import Given, toggle
from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.core.program import ITEM, MATCH_CAST, ShapeValue
from relaxcheck.generators.operators.choices import INTEGERS, replaced
from relaxcheck.generators.operators.faults import axis_out_of_range
from relaxcheck.generators.operators.record import (
    FLOATS,
    Attribute,
    Numerics,
    Operand,
    Operator,
)

_RANKS = (2, 0, 1, 3, 4)
_DTYPES = (*FLOATS, *INTEGERS, "bool")


def _cast(draft: Draft, value: Value) -> Value:
    """``value``, checked to have its shape, so that kernels know the symbol in it."""
    shape = ShapeValue(value.shape)
    return draft.call(MATCH_CAST, [value], value.shape, shape=shape, dtype=value.dtype)


def _filled(draft: Draft, value: Value, point: Point) -> Value:
    """``value``, or an operand like it of few different numbers, zeros among them."""
    if point["values"] == "drawn":
        return value
    # Negative numbers, where the dtype has them.
    fill = Below(2) if value.dtype in ("uint8", "bool") else Within(2)
    return draft.operand(value.shape, value.dtype, fill=fill)


def _nonzero(draft: Draft, value: Value, point: Point) -> None:
    x = _filled(draft, value, point)
    places = draft.call("nonzero", [x], (max(value.rank, 1), draft.count()), "int64")
    if point["used"]:
        cast = _cast(draft, places)
        draft.call("permute_dims", [cast], cast.shape[::-1])


_ITEMS = ("return_index", "return_inverse", "return_counts")


def _unique(draft: Draft, value: Value, point: Point) -> None:
    x = _filled(draft, value, point)
    asked = [name for name in _ITEMS if point[name]]
    attributes: dict[str, program.Attribute] = dict.fromkeys(asked, True)
    if not point["sorted"]:
        attributes["sorted"] = False
    count: Dim = draft.count() if value.rank else 1
    shape: tuple[Dim, ...] = (count,)
    whole = times(*value.shape)
    axis = point["axis"]
    if isinstance(axis, int):
        attributes["axis"] = axis
        at = axis % value.rank
        shape, whole = replaced(value.shape, at, count), value.shape[at]
        for other in (*value.shape[:at], *value.shape[at + 1 :]):
            draft.require(other, 1)
    sizes = {"return_index": count, "return_inverse": whole, "return_counts": count}
    types: list[tuple[tuple[Dim, ...], str]] = [(shape, value.dtype)]
    types += [((sizes[name],), "int64") for name in asked]
    for item, (of, dtype) in enumerate(types):
        place = {ITEM: item} if asked else {}
        result = draft.call("unique", [x], of, dtype, **attributes, **place)
        if point["used"] and value.rank and count in of:
            cast = _cast(draft, result)
            draft.call("flip", [cast], of, axis=0)


def _axis_fits(shape: Sequence[Dim], axis: int | None) -> bool:
    """Leave out subtensors without elements, which PyTorch refuses to compare."""
    if axis is None:
        return True
    inside = -len(shape) <= axis < len(shape)
    return inside and all(at_least(dim, 1) for dim in replaced(shape, axis % len(shape)))


_VALUES = ("few", "drawn")

OPERATORS = (
    Operator(
        "nonzero",
        meaning="The places of the elements that are not zero, a column each, in row-major order. "
        "A NaN is not zero; a scalar counts as a vector.",
        source="docstring of relax.op.nonzero; ONNX NonZero; numpy.nonzero",
        operands=(Operand("x", ranks=_RANKS, dtypes=_DTYPES),),
        like=Operand("x", ranks=_RANKS, dtypes=_DTYPES),
        axes=(Axis("values", _VALUES, "few"), toggle("used")),
        apply=_nonzero,
        numerics=Numerics.COPIES,
        alone=True,
    ),
    Operator(
        "unique",
        meaning="The different elements, or subtensors along an axis: ascending, by the first "
        "element that differs, or in the order in which they come. With the place of each one's "
        "first occurrence, the number of each element in their order, and how often each occurs.",
        source="docstring of relax.op.unique; ONNX Unique, which the importer maps to it",
        operands=(Operand("x", ranks=_RANKS, dtypes=_DTYPES),),
        like=Operand("x", ranks=_RANKS, dtypes=_DTYPES),
        attributes=(
            Attribute("sorted", "bool", True),
            *(Attribute(name, "bool", False) for name in _ITEMS),
            Attribute("axis", "axis", None),
        ),
        axes=(
            # Frameworks count several NaN as one, or each by itself.
            Axis(
                "values",
                _VALUES,
                "few",
                Given((DTYPE,), lambda dtype, values: values == "few" or dtype not in FLOATS),
            ),
            Axis("axis", (None, 0, -1, 1, -2, 2), None, Fits(_axis_fits)),
            Axis("sorted", (True, False), True),
            *(toggle(name) for name in _ITEMS),
            toggle("used", Given((RANK,), lambda rank, used: rank > 0)),
        ),
        apply=_unique,
        numerics=Numerics.COPIES,
        requires="no NaN; with an axis, elements along every other one",
        faults=(axis_out_of_range("unique"),),
        alone=True,
    ),
)
