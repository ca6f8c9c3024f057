"""Operators that make tensors: constants, ranges, masks, windows, random numbers."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.fills.drawn import BetweenParts
from relaxcheck.generators.onnx.choices import (
    AXIS,
    COUNTED,
    axis_choice,
    by_version,
    code,
    decimals,
    dtype_choice,
    indices,
    numbers,
    whole,
)
from relaxcheck.generators.onnx.hint import Hint, attribute
from relaxcheck.generators.onnx.model import Attribute, SparseValue, TensorValue
from relaxcheck.generators.onnx.proto import code_of
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import Sketch

_WHOLE_FIRST = {"T1": ("int64", "int32")}
_SHAPES = {"vector": (3,), "scalar": (), "matrix": (2, 3), "single": (1,), "empty": (2, 0)}
_SHAPE = "shape"


def written(dtype: str, count: int) -> tuple[bool | int | float, ...]:
    """So many values that ``dtype`` holds, not all the same, the first other than 0."""
    if dtype == "bool":
        return tuple(at % 2 == 0 for at in range(count))
    signed = dtype[0] != "u" and dtype != "float8_e8m0fnu"
    # Two bits hold no 2.
    cycle: tuple[int | float, ...] = (1, -1, 0, -2) if signed else (1, 3, 2, 0)
    if dtype == "float8_e8m0fnu":
        cycle = (1, 2, 0.5, 4)
    elif "float" in dtype:
        cycle = (1.5, -1.0, 0.0, -0.5)
    return tuple(cycle[at % len(cycle)] for at in range(count))


_VALUES = ("value", "sparse_value", "value_float", "value_floats", "value_int", "value_ints")
_TEXTS = ("value_string", "value_strings")
_PLAIN: dict[str, Attribute] = {
    "value_float": 2.5,
    "value_floats": (2.5, -0.5, 0.0),
    "value_int": -3,
    "value_ints": (3, -1, 0),
    "value_string": "2.5",
    "value_strings": ("2.5", "-1"),
}
_HELD = "held as"


def _constants(version: Schema, point: Point, value: Value) -> bool:
    if value not in version.attributes:
        return False
    # Each of the others has a dtype of its own.
    return value in ("value", "sparse_value") or point.get("T") in (None, "float32")


def _of_tensor(point: Point, value: Value) -> bool:
    held = point.get(_HELD)
    if held in (None, "value"):
        return True
    return value == "vector" or (held == "sparse_value" and value == "matrix")


def _constant(sketch: Sketch) -> None:
    held, dtype = sketch.text(_HELD), sketch.dtype()
    shape = _SHAPES[sketch.text(_SHAPE)]
    value: Attribute = _PLAIN.get(held, 0)
    if held == "value":
        count = 1
        for size in shape:
            count *= size
        value = TensorValue(dtype, shape, written(dtype, count))
    elif held == "sparse_value":
        value = SparseValue(dtype, shape, (0, 2), written(dtype, 1) * 2)
    sketch.node(settings={held: value})
    if held == "sparse_value":
        # As an output of the model it would be sparse, too.
        sketch.step("Identity", "y", output="dense")
    if held in _TEXTS:
        sketch.step("Cast", "y", output="number", to=code_of("float32"))


def _of_shape(sketch: Sketch) -> None:
    dtype = sketch.dtype("T2")
    shape = sketch.literal(_SHAPE, _SHAPES[sketch.text(_SHAPE)])
    value = None
    if sketch.has("value"):
        value = TensorValue(dtype, (1,), written(dtype, 1))
    sketch.node(shape, value=value)


def _default_is_float(point: Point, value: Value) -> bool:
    return value is True or point.get("T2") in (None, "float32")


_RANGES = ("0, 5, 1", "5, 0, -2", "0, 7, 3", "2, 2, 1", "3, 1, 1", "1, 2, 0.25", "-3, 4, 2")


def _ranges(point: Point, value: Value) -> bool:
    dtype = str(point.get("T", "float32"))
    values = decimals(str(value))
    if dtype[0] == "u" and min(values) < 0:
        return False
    return "float" in dtype or all(each.is_integer() for each in values)


def _range(sketch: Sketch) -> None:
    dtype = sketch.dtype()
    values = decimals(sketch.text("numbers"))
    exact = values if "float" in dtype else tuple(int(each) for each in values)
    names = [
        sketch.literal(name, [value], dtype, scalar=True)
        for name, value in zip(("start", "limit", "delta"), exact, strict=True)
    ]
    sketch.node(*names, stash_type=code(sketch, "stash_type"))


def _stashes(version: Schema, point: Point, value: Value) -> bool:
    if value is None:
        return True
    return "stash_type" in version.attributes and point.get("T") in (None, "float16", "bfloat16")


_SINGLE = "single"


def _one_hot(sketch: Sketch) -> None:
    depth = int(sketch.text("depth"))
    dtype = sketch.dtype("T1")
    # Some lie beyond the depth, which is no error.
    fill = indices(sketch, depth + 2, dtype, negative=sketch.schema.since >= COUNTED)
    chosen = sketch.data("indices", sketch.shape(), dtype, fill)
    scalar = sketch.text("depth form") == "scalar"
    width = sketch.literal("depth", [depth], sketch.dtype("T2"), scalar=scalar)
    values = sketch.parameter("values", (2,), sketch.dtype("T3"))
    sketch.node(chosen, width, values, axis=whole(sketch, AXIS))


def _eye(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape(2), sketch.dtype("T1"))
    sketch.node(data, k=whole(sketch, "k"), dtype=code(sketch, "dtype"))


def _seeds(operator: str) -> Axis:
    return attribute(operator, "seed", ("1.5", "0"))


def _numbers(sketch: Sketch, *names: str) -> dict[str, float | None]:
    return {
        name: float(sketch.text(name)) if sketch.has(name) else None
        for name in names
        if name in sketch.point
    }


_LIMITS = {
    "mean": ("0.5", "-2"),
    "scale": ("0.5", "2"),
    "low": ("-1", "0.25"),
    "high": ("0.5", "2"),
}
"""The attributes of distributions: no low limit is above a high one."""


def _random(sketch: Sketch) -> None:
    shape = _SHAPES[sketch.text(_SHAPE)]
    settings = _numbers(sketch, *_LIMITS, "seed")
    sketch.node(shape=shape, dtype=code(sketch, "dtype"), settings=settings)


def _random_like(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape(), sketch.dtype("T1"))
    sketch.node(data, dtype=code(sketch, "dtype"), settings=_numbers(sketch, *_LIMITS, "seed"))


def _like(operator: str) -> Axis:
    """The dtype of random numbers: that of the operand, if that is one of theirs."""

    def allowed(version: Schema, point: Point, value: Value) -> bool:
        own = point.get("T1")
        known = version.types["T2"]
        return value in known or (value is None and (own is None or own in known))

    values = ("float32", "float16", "float64", "bfloat16")
    return by_version(operator, "dtype", (None, *values), allowed, None, 2)


def _bernoulli(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape(), sketch.dtype("T1"), BetweenParts())
    sketch.node(data, dtype=code(sketch, "dtype"), settings=_numbers(sketch, "seed"))


def _multinomial(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape(2, filled=(1,)), sketch.dtype("T1"))
    size = whole(sketch, "sample_size")
    settings = _numbers(sketch, "seed")
    sketch.node(data, sample_size=size, dtype=code(sketch, "dtype"), settings=settings)


def _window(sketch: Sketch) -> None:
    size = sketch.literal("size", [sketch.integer("width")], sketch.dtype("T1"), scalar=True)
    datatype = code(sketch, "output_datatype")
    sketch.node(size, periodic=whole(sketch, "periodic"), output_datatype=datatype)


def _wide_enough(point: Point, value: Value) -> bool:
    """Of one element, a window that is not periodic divides by 0."""
    return value != 1 or point.get("periodic") != 0


def _scalars(
    sketch: Sketch, names: Sequence[str], values: Sequence[float], dtype: str
) -> list[str]:
    return [
        sketch.literal(name, [value], dtype, scalar=True)
        for name, value in zip(names, values, strict=True)
    ]


_MELS = {"8, 16, 8192": (0.0, 4096.0), "4, 32, 16000": (125.0, 7500.0), "1, 8, 100": (0.0, 50.0)}
"""Numbers of bins, lengths of transforms and rates of samples; the lowest and highest frequency."""


def _mel(sketch: Sketch) -> None:
    text = sketch.text("numbers")
    sizes = ("num_mel_bins", "dft_length", "sample_rate")
    names = _scalars(sketch, sizes, numbers(text), sketch.dtype("T1"))
    edges = ("lower_edge_hertz", "upper_edge_hertz")
    names += _scalars(sketch, edges, _MELS[text], sketch.dtype("T2"))
    sketch.node(*names, output_datatype=code(sketch, "output_datatype"))


_WINDOWS = ("BlackmanWindow", "HammingWindow", "HannWindow")

HINTS = (
    Hint(
        "Constant",
        _constant,
        (
            by_version("Constant", _HELD, (*_VALUES, *_TEXTS), _constants, "value"),
            Axis(_SHAPE, tuple(_SHAPES), "vector", _of_tensor),
        ),
        ranks=(),
        results=("T",),
        held=(),
        data=(),
        dims=(),
        sizes=(),
        regimes=("normal",),
    ),
    Hint(
        "ConstantOfShape",
        _of_shape,
        (
            Axis("value", (True, False), True, _default_is_float),
            Axis(_SHAPE, tuple(_SHAPES), "matrix"),
        ),
        ranks=(),
        results=("T2",),
        data=(),
        dims=(),
        sizes=(),
        regimes=("normal",),
    ),
    Hint(
        "Range",
        _range,
        (
            Axis("numbers", _RANGES, "0, 5, 1", _ranges),
            by_version(
                "Range", "stash_type", (None, "float32", "float64", "float16", "bfloat16"), _stashes
            ),
        ),
        ranks=(),
        data=(),
        dims=(),
        sizes=(),
        regimes=("normal",),
    ),
    Hint(
        "OneHot",
        _one_hot,
        (
            axis_choice("OneHot", (0, 1, -1, -2, 2), counted=9, above=1, below=1),
            Axis("depth", ("3", "1", "5"), "3"),
            Axis("depth form", ("scalar", _SINGLE), "scalar"),
        ),
        (1, 2, 3),
        {
            "T1": ("int64", "int32", "uint8", "int8", "float32", "float64", "float16"),
            "T2": ("int64", "int32", "float32", "uint8", "float16"),
        },
    ),
    Hint(
        "EyeLike",
        _eye,
        (
            attribute("EyeLike", "k", (0, 1, -1, 7, -7)),
            dtype_choice("EyeLike", "dtype", "T2"),
        ),
        ranks=(),
        held=(),
    ),
    *(
        Hint(
            name,
            _random,
            (
                Axis(_SHAPE, tuple(_SHAPES), "matrix"),
                *(attribute(name, each, _LIMITS[each]) for each in settings),
                _seeds(name),
                dtype_choice(name, "dtype", "T"),
            ),
            ranks=(),
            held=(),
            data=(),
            dims=(),
            sizes=(),
            regimes=("normal",),
        )
        for name, settings in (
            ("RandomNormal", ("mean", "scale")),
            ("RandomUniform", ("low", "high")),
        )
    ),
    *(
        Hint(
            name,
            _random_like,
            (
                *(attribute(name, each, _LIMITS[each]) for each in settings),
                _seeds(name),
                _like(name),
            ),
            held=(),
        )
        for name, settings in (
            ("RandomNormalLike", ("mean", "scale")),
            ("RandomUniformLike", ("low", "high")),
        )
    ),
    Hint(
        "Bernoulli",
        _bernoulli,
        (_seeds("Bernoulli"), dtype_choice("Bernoulli", "dtype", "T2")),
        held=(),
    ),
    Hint(
        "Multinomial",
        _multinomial,
        (
            attribute("Multinomial", "sample_size", (1, 3)),
            _seeds("Multinomial"),
            dtype_choice("Multinomial", "dtype", "T2"),
        ),
        ranks=(),
        held=(),
    ),
    *(
        Hint(
            name,
            _window,
            (
                attribute(name, "periodic", (1, 0)),
                Axis("width", (6, 7, 1), 6, _wide_enough),
                dtype_choice(name, "output_datatype", "T2"),
            ),
            ranks=(),
            types=_WHOLE_FIRST,
            data=(),
            dims=(),
            sizes=(),
            regimes=("normal",),
        )
        for name in _WINDOWS
    ),
    Hint(
        "MelWeightMatrix",
        _mel,
        (
            Axis("numbers", tuple(_MELS), "8, 16, 8192"),
            dtype_choice("MelWeightMatrix", "output_datatype", "T3"),
        ),
        ranks=(),
        types=_WHOLE_FIRST,
        data=(),
        dims=(),
        sizes=(),
        regimes=("normal",),
    ),
)
