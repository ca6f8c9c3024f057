"""Numbers of few bits that stand for real ones: by a scale and a zero point."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.fills.kinds import Below, Literal, Positive
from relaxcheck.generators.core.operand import DTYPE, RANK
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.operators.choices import axis_choice
from relaxcheck.generators.operators.faults import argument_dtype, axis_out_of_range
from relaxcheck.generators.operators.record import (
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
)

_ZERO = 2


def _parameters(draft: Draft, value: Value, point: Point, dtype: str, zero: str) -> list[Value]:
    """Scale and zero point: a number each, or one for each place on the axis."""
    shape: tuple[Dim, ...]
    if point["parameters"] == "each":
        shape = (value.shape[integer(point, "axis")],)
        scale = draft.operand(shape, dtype, fill=Positive(0.125))
        return [scale, draft.operand(shape, zero, fill=Below(5))]
    fixed = point["parameters"] == "constants"
    values = ((0.25,), (_ZERO,))
    shape = (1,) if point["parameters"] == "vectors" else ()
    return [
        draft.operand(shape, kind, fill=Literal(each), constant=fixed)
        for kind, each in zip((dtype, zero), values, strict=True)
    ]


def _quantize(draft: Draft, value: Value, point: Point) -> None:
    to = text(point, "to")
    parameters = _parameters(draft, value, point, value.dtype, to)
    draft.call(
        "quantize", [value, *parameters], value.shape, to, axis=integer(point, "axis"), out_dtype=to
    )


def _dequantize(draft: Draft, value: Value, point: Point) -> None:
    to = text(point, "to")
    parameters = _parameters(draft, value, point, to, value.dtype)
    draft.call(
        "dequantize",
        [value, *parameters],
        value.shape,
        to,
        axis=integer(point, "axis"),
        out_dtype=to,
    )


_PARAMETERS = Axis(
    "parameters",
    ("constants", "scalars", "vectors", "each"),
    "constants",
    Given((RANK,), lambda rank, value: rank > 0),
)
_REALS, _WHOLE = ("float32", "float16"), ("int8", "uint8", "int16")


def _record(
    name: str, meaning: str, taken: tuple[str, ...], made: tuple[str, ...], apply: Apply
) -> Operator:
    return Operator(
        name,
        meaning=meaning,
        source=f"docstring of relax.op.{name}; ONNX {name.capitalize()}Linear",
        operands=(
            Operand("data", ranks=(2, 1, 3, 4), dtypes=taken),
            Operand("scale", ranks=(0, 1), dtypes=_REALS),
            Operand("zero_point", ranks=(0, 1), dtypes=_WHOLE),
        ),
        attributes=(
            Attribute("axis", "axis", -1),
            Attribute("out_dtype", "dtype", made[0]),
        ),
        axes=(axis_choice(), _PARAMETERS, Axis("to", made, made[0])),
        apply=apply,
        numerics=Numerics.ROUNDS,
        requires="positive scales",
        faults=(
            axis_out_of_range(name),
            argument_dtype(name, 1, "int32", kind="scale-dtype", pinned={DTYPE: taken[0]}),
        ),
    )


OPERATORS = (
    _record(
        "quantize",
        "data / scale rounded to the nearest integer, ties to even, plus zero_point, clipped to "
        "the integers of out_dtype; scale and zero point are numbers, or one for each place on "
        "the axis.",
        _REALS,
        _WHOLE,
        _quantize,
    ),
    _record(
        "dequantize",
        "(data - zero_point) * scale; scale and zero point are numbers, or one for each place on "
        "the axis.",
        _WHOLE,
        _REALS,
        _dequantize,
    ),
)
