"""Operators element by element whose versions differ: limits, several operands, dropout."""

import numpy as np
from ml_dtypes import finfo

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Below, Fill, Positive
from relaxcheck.generators.core.points import Given
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.generators.onnx.choices import (
    by_version,
    decimal,
    is_integral,
    whole,
    word,
)
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.hints.elementwise import binary_axes, broadcast, unary
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import RANK, Sketch

_OWN = "own"
_LOWEST, _HIGHEST = "min", "max"
_COUNT, _SPREAD = "operands", "shapes"
_MASK = "mask"


# Clip


def _limit(name: str) -> Axis:
    """The axis of a limit, as text; that of the dtype does not limit."""
    values = {_LOWEST: ("-1", "0", "1", _OWN), _HIGHEST: ("1", "0", "-1", _OWN)}[name]

    def allowed(point: Point, value: Value) -> bool:
        return value != "-1" or str(point.get("T", "float32"))[0] != "u"

    return Axis(name, (None, *values), None, allowed, 2)


def _clip(sketch: Sketch) -> None:
    held = _LOWEST in sketch.schema.attributes
    # An attribute is a float32, whatever the dtype.
    dtype = "float32" if held else sketch.dtype()
    limits = {name: _number(sketch, name, dtype) for name in (_LOWEST, _HIGHEST)}
    data = sketch.data("x", sketch.shape())
    if held:
        sketch.node(data, min=limits[_LOWEST], max=limits[_HIGHEST])
        return
    sketch.node(data, *(_held(sketch, name, number) for name, number in limits.items()))


def _number(sketch: Sketch, name: str, dtype: str) -> float | None:
    """The limit at the axis ``name``; None if it is left out."""
    if not sketch.has(name):
        return None
    text, own = sketch.text(name), numpy_dtype(dtype)
    if is_integral(dtype):
        borders = np.iinfo(own)
        return int((borders.min if name == _LOWEST else borders.max) if text == _OWN else text)
    greatest = float(finfo(own).max)
    return (-greatest if name == _LOWEST else greatest) if text == _OWN else float(text)


def _held(sketch: Sketch, name: str, number: float | None) -> str:
    if number is None:
        return ""
    return sketch.literal(name, (number,), sketch.dtype(), scalar=True)


# Two operands


def _pow(sketch: Sketch) -> None:
    left, right = broadcast(sketch)
    dtype, other = sketch.dtype("T"), sketch.dtype(sketch.schema.inputs[1].type)
    special = sketch.point["regime"] == "special"
    # Negative numbers have no fractional powers, and integers none of negative exponents.
    fractional = other[0] in "fb"
    base: Fill | None = Positive(0.5) if fractional and not special else None
    exponent: Fill | None = Below(4)
    if fractional:
        exponent = None if dtype[0] in "fb" else Positive(0.0)
    if special and dtype[0] in "fb":
        exponent = None
    match sketch.point["exponent"]:
        case "two":
            name = sketch.literal("power", (2,), other, scalar=True)
        case "half":
            name = sketch.literal("power", (0.5,), other, scalar=True)
        case _:
            name = sketch.parameter("power", right, other, exponent)
    sketch.node(sketch.data("x", left, dtype, base), name)


def _exponents() -> Axis:
    def allowed(point: Point, value: Value) -> bool:
        # The version decides whether the exponent has a dtype of its own.
        own = (str(point.get(name, "float32")) for name in ("T", "T1"))
        return value != "half" or all(dtype[0] in "fb" for dtype in own)

    return Axis("exponent", ("drawn", "two", "half"), "drawn", allowed, 2)


def _mod(sketch: Sketch) -> None:
    left, right = broadcast(sketch)
    divisor = None if sketch.dtype()[0] == "i" else Positive(1.0)
    if divisor is None and sketch.point["divisor"] == "positive":
        divisor = Positive(1.0)
    # Drawn integers may be 0, by which no integer is divided.
    if divisor is None:
        name = sketch.literal("b", (-3,), sketch.dtype(), scalar=True)
    else:
        name = sketch.parameter("b", right, fill=divisor)
    sketch.node(sketch.data("a", left), name, fmod=whole(sketch, "fmod"))


def _mod_axes() -> tuple[Axis, ...]:
    def real(version: Schema, point: Point, value: Value) -> bool:
        # Before opset 28 floating-point numbers have no other remainder.
        floats = str(point.get("T", "int32"))[0] in "fb"
        return value == 1 or not floats or version.since >= 28

    def signed(point: Point, value: Value) -> bool:
        return value == "positive" or str(point.get("T", "int32"))[0] == "i"

    return (
        by_version("Mod", "fmod", (None, 0, 1), real),
        Axis("divisor", ("positive", "negative"), "positive", signed),
    )


def _shift(sketch: Sketch) -> None:
    left, right = broadcast(sketch)
    bits = 1 if sketch.dtype() == "int8" else 5
    fill = Positive(0.0) if sketch.dtype()[0] == "i" else None
    data = sketch.data("x", left, fill=fill)
    sketch.node(
        data, sketch.parameter("bits", right, fill=Below(bits)), direction=_direction(sketch)
    )


def _direction(sketch: Sketch) -> str:
    return sketch.text("direction")


def _prelu(sketch: Sketch) -> None:
    full = sketch.shape()
    shapes: dict[str, tuple[Dim, ...]] = {
        "same": full,
        "scalar": (),
        "single": (1,),
        "last": full[-1:],
        # How PyTorch's exporter writes the slopes of channels.
        "channels": full[1:2] + (1,) * (len(full) - 2),
    }
    slope = sketch.parameter("slope", shapes[sketch.text("slope")])
    sketch.node(sketch.data("x", full), slope)


def _slopes() -> Axis:
    values = ("channels", "same", "scalar", "single", "last")

    def allowed(point: Point, value: Value) -> bool:
        rank = point.get(RANK, 2)
        assert isinstance(rank, int)
        return rank >= {"channels": 2, "single": 1, "last": 1}.get(str(value), 0)

    return Axis("slope", values, "same", allowed)


# Several operands


def _several(sketch: Sketch) -> None:
    full = sketch.shape()
    count = sketch.integer(_COUNT)
    row, column = full[1:], full[:1] + (1,) * (len(full) - 1)
    shapes: tuple[tuple[Dim, ...], ...] = (full,)
    match sketch.point[_SPREAD]:
        case "rows":
            shapes = (full, row)
        case "growing":
            shapes = ((), row, full)
        case "crossing":
            shapes = (column, row)
    names = []
    for at in range(count):
        make = sketch.data if at % 2 == 0 else sketch.parameter
        names.append(make(f"x{at}", shapes[at % len(shapes)]))
    sketch.node(*names)


def _of_several(operator: str) -> Hint:
    def broadcasts(version: Schema, point: Point, value: Value) -> bool:
        return value == "same" or (version.since >= 8 and point.get(_COUNT, 2) != 1)

    axes = (
        Axis(_COUNT, (2, 1, 3, 4), 2),
        by_version(operator, _SPREAD, ("same", "rows", "growing", "crossing"), broadcasts, "same"),
    )
    return Hint(operator, _several, axes)


# Tests, activations, dropout


def _is_inf(sketch: Sketch) -> None:
    unary(sketch, **{name: whole(sketch, name) for name in _SIGNS})


_SIGNS = ("detect_negative", "detect_positive")


def _gelu(sketch: Sketch) -> None:
    unary(sketch, approximate=word(sketch, "approximate"))


def _swiglu(sketch: Sketch) -> None:
    shape = sketch.shape()
    gate, value = sketch.data("a", shape), sketch.data("b", shape)
    sketch.node(gate, value, alpha=decimal(sketch, "alpha"))


def _dropout(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape())
    ratio = decimal(sketch, "ratio")
    named = ("y", "mask") if sketch.has(_MASK) else ("y",)
    if "ratio" in sketch.schema.attributes:
        sketch.node(data, named=named, ratio=ratio)
        return
    inputs = [""] * 2
    if ratio is not None:
        inputs[0] = sketch.literal("ratio", (ratio,), sketch.dtype("T1"), scalar=True)
    if sketch.has(with_("training_mode")):
        training = int(sketch.point["training"] is True)
        inputs[1] = sketch.literal("training_mode", (training,), "bool", scalar=True)
    sketch.node(data, *inputs, named=named, seed=whole(sketch, "seed"))


def _dropout_axes() -> tuple[Axis, ...]:
    def known(version: Schema, point: Point, value: Value) -> bool:
        return value is None or version.since < 22 or str(point.get("T1"))[:6] != "float8"

    def training(present: Value, value: Value) -> bool:
        return value is False or present is True

    return (
        by_version("Dropout", "ratio", (None, "0.5", "0", "0.25"), known),
        optional("Dropout", "training_mode"),
        Axis("training", (False, True), False, Given((with_("training_mode"),), training)),
        Axis(_MASK, (False, True), False),
        attribute("Dropout", "seed", (7,)),
    )


HINTS = (
    Hint("Clip", _clip, (_limit(_LOWEST), _limit(_HIGHEST))),
    Hint("Pow", _pow, (_exponents(), *binary_axes())),
    Hint("Mod", _mod, (*_mod_axes(), *binary_axes())),
    Hint(
        "BitShift",
        _shift,
        (attribute("BitShift", "direction", ("LEFT", "RIGHT"), always=True), *binary_axes()),
    ),
    Hint("PRelu", _prelu, (_slopes(),)),
    *(_of_several(name) for name in ("Sum", "Min", "Max", "Mean")),
    Hint(
        "IsInf",
        _is_inf,
        tuple(attribute("IsInf", name, (1, 0)) for name in _SIGNS),
        held=(),
        regimes=("special", "normal"),
    ),
    Hint("Gelu", _gelu, (attribute("Gelu", "approximate", ("none", "tanh")),), held=()),
    Hint("SwiGLU", _swiglu, (attribute("SwiGLU", "alpha", ("1", "1.5", "-1")),), held=()),
    Hint("Dropout", _dropout, _dropout_axes()),
)
