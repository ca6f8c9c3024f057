"""Fourier transforms, of whole signals and of pieces of them."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.onnx.choices import by_version, whole
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import NONE, ONE, RANK, SIZE, USUAL, Sketch

_NUMBERS, _AXIS, _LENGTH, _ONE_SIDED = "numbers", "axis", "dft_length", "onesided"
_REAL, _COMPLEX = "real", "complex"


def _parts(sketch: Sketch) -> int:
    """The size of the last dimension: real numbers have one part."""
    return 1 if sketch.point[_NUMBERS] == _REAL else 2


def _transform(sketch: Sketch) -> None:
    shape: list[Dim] = [*sketch.shape(sketch.rank - 1), _parts(sketch)]
    stated = whole(sketch, _AXIS)
    axis = stated if stated is not None else (1 if sketch.schema.since < 20 else -2)
    place = axis % len(shape)
    # A transform of nothing is undefined.
    shape[place] = sketch.symbol(place, 1 if sketch.point[SIZE] == ONE else 4 + place)
    data = sketch.data("x", shape, sketch.dtype("T1"))
    length = ""
    if sketch.has(_LENGTH):
        size = whole(sketch, _LENGTH) or 1
        length = sketch.literal("length", (size,), sketch.dtype("T2"), scalar=True)
    named = "axis" in sketch.schema.attributes
    along = ""
    if stated is not None and not named:
        along = sketch.literal("along", (stated,), scalar=True)
    sketch.node(
        data,
        length,
        along,
        axis=stated if named else None,
        inverse=whole(sketch, "inverse"),
        onesided=whole(sketch, _ONE_SIDED),
    )


def _transform_axes() -> tuple[Axis, ...]:
    def inside(version: Schema, point: Point, value: Value) -> bool:
        rank = point.get(RANK, 3)
        assert isinstance(rank, int)
        # The last dimension is that of the parts of numbers.
        if value is None:
            return rank > 2 or version.since >= 20
        axis = int(str(value))
        return -rank <= axis < rank - 1 and axis != -1

    def halved(point: Point, value: Value) -> bool:
        # Real signals alone have a spectrum that is its own mirror image.
        plain = point.get("inverse") != 1 and point.get(_NUMBERS, _REAL) == _REAL
        return value == 0 or plain

    return (
        Axis(_NUMBERS, (_REAL, _COMPLEX), _REAL),
        by_version("DFT", _AXIS, (None, 1, 0, -2, 2, -3), inside),
        Axis(_LENGTH, (None, 4, 3, 8, 1), None, default_weight=2),
        attribute("DFT", "inverse", (1, 0)),
        attribute("DFT", _ONE_SIDED, (1, 0), halved),
    )


_WINDOW, _FRAME = with_("window"), with_("frame_length")
_SIGNAL, _FRAMED = 12, 4


def _short(sketch: Sketch) -> None:
    rows = sketch.symbol(0, {ONE: 1, NONE: 0}.get(str(sketch.point[SIZE]), 2))
    length = sketch.symbol(1, _SIGNAL)
    if isinstance(length, str):
        sketch.least[length] = _FRAMED
    data = sketch.data("x", (rows, length, _parts(sketch)), sketch.dtype("T1"))
    step = sketch.literal("step", (sketch.integer("step"),), sketch.dtype("T2"), scalar=True)
    window, frame = "", ""
    if sketch.has(_WINDOW):
        window = sketch.parameter("window", (_FRAMED,), sketch.dtype("T1"))
    if sketch.has(_FRAME):
        frame = sketch.literal("frame", (_FRAMED,), sketch.dtype("T2"), scalar=True)
    sketch.node(data, step, window, frame, onesided=whole(sketch, _ONE_SIDED))


def _short_axes() -> tuple[Axis, ...]:
    def framed(point: Point, value: Value) -> bool:
        # One of them says how long a frame is.
        return value is True or point.get(_WINDOW) is True

    def halved(point: Point, value: Value) -> bool:
        return value == 0 or point.get(_NUMBERS, _REAL) == _REAL

    return (
        Axis(_NUMBERS, (_REAL, _COMPLEX), _REAL),
        Axis("step", (2, 1, 4, 3), 2),
        optional("STFT", "window"),
        Axis(_FRAME, (True, False), True, framed),
        Axis(_ONE_SIDED, (None, 1, 0), None, halved),
    )


HINTS = (
    Hint("DFT", _transform, _transform_axes(), (3, 2, 4)),
    Hint("STFT", _short, _short_axes(), (), sizes=(USUAL, ONE, NONE)),
)
