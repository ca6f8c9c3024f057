"""Views of the bytes of a tensor, and copies of views that begin inside of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value as Choice
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.operand import DTYPE, RANK, SHAPE, SIZES, Fits, at_least, sizes
from relaxcheck.generators.core.points import Every, Given, text
from relaxcheck.generators.core.polynomials import minus, over, times
from relaxcheck.generators.core.program import ShapeValue
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.generators.operators.faults import SHAPES, STATIC, attribute_is
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator
from relaxcheck.generators.operators.shape import DTYPES

_VIEW, _ZERO_OFFSET = "memory.view", "memory.ensure_zero_offset"
_OFFSET = "relative_byte_offset"
_BYTES = ("byte", "bounds", "size")

_TO = (
    *(None, "int32", "float32", "uint8", "int8", "float16", "int16", "int64", "float64"),
    *("uint32", "uint16", "bfloat16"),
)
"""Dtypes that bytes are read in; None: that of the operand. A byte of a bool is 0 or 1."""

_FORMS = ("flat", None, "last", "row", "rest")
"""Shapes of a view. ``flat`` and ``last`` are of all bytes, on one axis or with another last
dimension; ``row`` is an element of the first axis, ``rest`` all but one of them; None leaves the
shape out."""


def _width(dtype: str) -> int:
    return numpy_dtype(dtype).itemsize


def _fits(shape: Sequence[Dim], dtype: str, to: str | None, form: str | None) -> bool:
    """Whole elements of the new dtype cover the view exactly."""
    old, new = _width(dtype), _width(to or dtype)
    match form:
        case None:
            return new <= old
        case "flat":
            parts = [dim for dim in shape if not symbols(dim)]
            return len(parts) < len(shape) or prod(map(int, parts)) * old % new == 0
        case "row":
            least = len(shape) > 1 and at_least(shape[0], 1)
        case "rest":
            least = len(shape) > 0 and at_least(shape[0], 1)
        case _:
            least = len(shape) > 0
    if not least:
        return False
    if form == "rest" and len(shape) == 1:
        return bool(symbols(shape[0])) or (int(shape[0]) - 1) * old % new == 0
    return bool(symbols(shape[-1])) or int(shape[-1]) * old % new == 0


def _offsets(shape: Sequence[Dim], form: str | None, offset: object) -> bool:
    match offset:
        case "row":
            return form == "rest" or (form == "row" and at_least(shape[0], 2))
        case "last row":
            return form == "row"
    return True


def _rescaled(draft: Draft, dim: Dim, old: int, new: int) -> Dim:
    draft.require(times(old, dim), 0, new)
    return over(times(old, dim), new)


def _shape(draft: Draft, value: Value, form: str | None, old: int, new: int) -> tuple[Dim, ...]:
    match form:
        case None:
            return value.shape
        case "flat":
            return (_rescaled(draft, times(*value.shape), old, new),)
        case "row":
            draft.require(value.shape[0], 1)
            kept = value.shape[1:]
        case "rest":
            draft.require(value.shape[0], 1)
            kept = (minus(value.shape[0], 1), *value.shape[1:])
        case _:
            kept = value.shape
    return (*kept[:-1], _rescaled(draft, kept[-1], old, new))


def _begin(draft: Draft, value: Value, form: str | None, offset: object, old: int) -> Dim:
    """The first byte of the view."""
    row = times(old, *value.shape[1:])
    match offset:
        case "row":
            draft.require(value.shape[0], 2 if form == "row" else 1)
            return row
        case "last row":
            return times(minus(value.shape[0], 1), row)
    return 0


def _viewed(draft: Draft, value: Value, form: str | None, to: str | None, offset: object) -> Value:
    """The result of a call of ``memory.view``."""
    dtype = to or value.dtype
    old, new = _width(value.dtype), _width(dtype)
    shape = _shape(draft, value, form, old, new)
    attributes: dict[str, program.Attribute] = {}
    if form is not None:
        attributes["shape"] = shape_value(shape)
    # In a graph it is always said: compiled 0.26 fails without, whatever else the graph has.
    if to is not None or draft.supply is not None:
        attributes["dtype"] = dtype
    if offset is not None:
        first = _begin(draft, value, form, offset, old)
        attributes[_OFFSET] = first if isinstance(first, int) else ShapeValue((first,))
    return draft.call(_VIEW, [value], shape, dtype, **attributes)


def _view(draft: Draft, value: Value, point: Point) -> None:
    form, to = (None if point[name] is None else text(point, name) for name in ("form", "to"))
    view = _viewed(draft, value, form, to, point["offset"])
    match point["then"]:
        case "copied":
            draft.call(_ZERO_OFFSET, [view], view.shape, view.dtype)
        case "computed":
            draft.call("flip", [view], view.shape, view.dtype, axis=0)


def _ensure_zero_offset(draft: Draft, value: Value, point: Point) -> None:
    if point["of"] == "view":
        value = _viewed(draft, value, "rest", None, "row")
    copy = draft.call(_ZERO_OFFSET, [value], value.shape)
    if point["then"] == "computed":
        draft.call("flip", [copy], copy.shape, axis=0)


@dataclass(frozen=True, slots=True)
class _Reads:
    """An ``allowed`` predicate for a dtype that bytes are read in: some form fits.

    In a graph it is the operand's: what other operators make of any bits is no matter of views.
    """

    reads: tuple[str, ...] = (DTYPE, RANK, SIZES, SHAPE)

    def __call__(self, point: Point, to: Choice) -> bool:
        shape = sizes(point)
        if to is None or shape is None or DTYPE not in point:
            return True
        dtype, kind = text(point, DTYPE), str(to)
        return (
            SHAPE not in point
            and dtype != kind
            and any(_fits(shape, dtype, kind, form) for form in _FORMS)
        )


_HAS_AXES = Given((RANK,), lambda rank, then: rank > 0 or then != "computed")

OPERATORS = (
    Operator(
        _VIEW,
        meaning="The operand's bytes from an offset on, in row-major order, read as elements of "
        "another dtype and shape; what is left out is as in the operand.",
        source="docstring of relax.op.memory.view; MEANINGS.md, Memory",
        operands=(Operand("data", ranks=(2, 0, 1, 3, 4), dtypes=DTYPES),),
        attributes=(
            Attribute("shape", "shape", None),
            Attribute("dtype", "dtype", None),
            Attribute(_OFFSET, "extent", None),
        ),
        axes=(
            Axis(
                "to",
                _TO,
                None,
                _Reads(),
                default_weight=4,
            ),
            Axis("form", _FORMS, "flat", Fits(_fits, (DTYPE, "to"))),
            Axis("offset", (None, 0, "row", "last row"), None, Fits(_offsets, ("form",))),
            Axis(
                "then",
                (None, "copied", "computed"),
                None,
                Every(
                    (
                        Given(
                            (RANK, "form"),
                            lambda rank, form, then: (
                                rank > 0 or form is not None or then != "computed"
                            ),
                        ),
                        # Of a view with an offset, operators take a copy.
                        Given(
                            (SHAPE, "offset"),
                            lambda _, offset, then: offset in (None, 0) or then == "copied",
                        ),
                    )
                ),
            ),
        ),
        nulls=True,
        apply=_view,
        faults=(
            attribute_is("too-large", _VIEW, "shape", (1000,), (*SHAPES, *_BYTES), STATIC),
            attribute_is("offset-beyond", _VIEW, _OFFSET, 1 << 20, ("offset", *_BYTES), STATIC),
            attribute_is("offset-negative", _VIEW, _OFFSET, -64, ("offset", *_BYTES)),
        ),
        numerics=Numerics.COPIES,
        requires="a view inside the operand's bytes",
    ),
    Operator(
        _ZERO_OFFSET,
        meaning="The operand; a copy of it where it is a view with an offset.",
        source="docstring of relax.op.memory.ensure_zero_offset",
        operands=(Operand("data", ranks=(2, 0, 1, 3, 4), dtypes=DTYPES),),
        axes=(
            Axis(
                "of",
                ("operand", "view"),
                "operand",
                Fits(lambda shape, of: of == "operand" or (bool(shape) and at_least(shape[0], 1))),
            ),
            Axis("then", (None, "computed"), None, _HAS_AXES),
        ),
        apply=_ensure_zero_offset,
        numerics=Numerics.COPIES,
    ),
)
