"""Casts, of values and of bits."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.fills.borders import Borders
from relaxcheck.generators.core.fills.kinds import Fill
from relaxcheck.generators.onnx.choices import by_version, code, dtype_choice, unsigned, whole
from relaxcheck.generators.onnx.hint import Hint, attribute
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import Sketch

_VALUES = "values"
_BORDERS = "borders"
_PLAIN = (
    *("float16", "float32", "float64", "bfloat16", "bool"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
"""The dtypes whose borders are known."""

_RANKS = (2, 1, 3, 0)


def _scaled(point: Point, value: Value) -> bool:
    """Roundings differ for float8_e8m0fnu alone; elsewhere the attribute has no effect."""
    return value == "up" or "float8_e8m0fnu" in (point.get("to"), point.get("T2"))


def _narrow(point: Point, value: Value) -> bool:
    """ONNX Runtime refuses an attribute that is stated without effect."""
    to = str(point.get("to", point.get("T2", "float8_e5m2")))
    return value == 1 or to.startswith("float8_e5") or to.startswith("float8_e4")


def _saturating(operator: str) -> tuple[Axis, Axis]:
    rounding = ("up", "down", "nearest")
    return (
        attribute(operator, "saturate", (1, 0), _narrow),
        attribute(operator, "round_mode", rounding, _scaled),
    )


def _bordered(to: str) -> Axis:
    """The axis of the operand's values: drawn in the regime, or at the borders of the dtype."""

    def allowed(point: Point, value: Value) -> bool:
        return value is None or all(point.get(name, "int8") in _PLAIN for name in ("T1", to))

    return Axis(_VALUES, (None, _BORDERS), None, allowed)


def _fill(sketch: Sketch, to: str) -> Fill | None:
    if sketch.has(_VALUES):
        return Borders(to)
    return unsigned(to, sketch.dtype("T1")) if sketch.point["regime"] != "special" else None


def _mode(sketch: Sketch) -> str | None:
    return sketch.text("round_mode") if sketch.has("round_mode") else None


def _cast(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape(), sketch.dtype("T1"), _fill(sketch, sketch.text("to")))
    saturate = whole(sketch, "saturate")
    sketch.node(data, to=code(sketch, "to"), saturate=saturate, round_mode=_mode(sketch))


def _cast_like(sketch: Sketch) -> None:
    to = sketch.dtype("T2")
    data = sketch.data("x", sketch.shape(), sketch.dtype("T1"), _fill(sketch, to))
    like = sketch.parameter("like", () if sketch.text("like") == "scalar" else (2,), to)
    sketch.node(data, like, saturate=whole(sketch, "saturate"), round_mode=_mode(sketch))


def _bits(dtype: str) -> int:
    if dtype == "bool":
        return 8
    digits = "".join(filter(str.isdigit, dtype.removeprefix("b").split("_")[0]))
    return int(digits)


def _same_bits(version: Schema, point: Point, value: Value) -> bool:
    own = point.get("T1")
    return value in version.types["T2"] and (own is None or _bits(str(own)) == _bits(str(value)))


def _bit_cast(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape(), sketch.dtype("T1"))
    sketch.node(data, to=code(sketch, "to"))


# Bits of numbers other than 0 and 1 are no truth values.
_NUMBERS = tuple(
    value for value in dtype_choice("BitCast", "to", "T2", required=True).values if value != "bool"
)

HINTS = (
    Hint(
        "Cast",
        _cast,
        (
            dtype_choice("Cast", "to", "T2", required=True),
            *_saturating("Cast"),
            _bordered("to"),
        ),
        _RANKS,
        held=(),
    ),
    Hint(
        "CastLike",
        _cast_like,
        (*_saturating("CastLike"), _bordered("T2"), Axis("like", ("vector", "scalar"), "vector")),
        _RANKS,
    ),
    Hint(
        "BitCast",
        _bit_cast,
        (by_version("BitCast", "to", _NUMBERS, _same_bits, "float32"),),
        _RANKS,
        held=(),
    ),
)
