"""Quantization: of tensors, and back."""

from math import prod

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Fill, Literal
from relaxcheck.generators.onnx.choices import (
    AXIS,
    by_version,
    code,
    input_dtype,
    whole,
)
from relaxcheck.generators.onnx.hint import Hint, attribute, with_
from relaxcheck.generators.onnx.proto import code_of
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import RANK, Sketch

GRANULARITY = "granularity"
TENSOR, ALONG, BLOCKS, RAGGED = "tensor", "axis", "blocks", "ragged"
_BLOCK = 3
_LENGTHS = {BLOCKS: 2 * _BLOCK, RAGGED: 2 * _BLOCK - 1}
_OUTPUT = "output_dtype"

SCALES = {"dyadic": (0.5, 0.25, 2.0, 1.0, 0.125), "odd": (0.3, 0.07, 1.1, 0.6, 0.9)}
"""Scales by which quotients are exact, and others."""


def _granularities(version: Schema, point: Point, value: Value) -> bool:
    if value == TENSOR:
        return True
    # A vector is quantized as a whole.
    several = int(str(point.get(RANK, 4))) >= 2
    return several and (
        "block_size" in version.attributes if value in _LENGTHS else AXIS in version.attributes
    )


def _dimensions(version: Schema, point: Point, value: Value) -> bool:
    rank = int(str(point.get(RANK, 4)))
    if value is None:
        return True
    return AXIS in version.attributes and rank > 1 and -rank <= int(str(value)) < rank


def _shapes(sketch: Sketch) -> tuple[tuple[Dim, ...], tuple[int, ...]]:
    """The shapes of the tensor and of its scales."""
    form = sketch.text(GRANULARITY)
    if form == TENSOR:
        return sketch.shape(), ()
    value = sketch.point[AXIS]
    along = (1 if value is None else int(str(value))) % sketch.rank
    if form == ALONG:
        shape = sketch.shape(fixed=(along,))
        return shape, (sketch.size(shape[along]),)
    full = sketch.shape(fixed=range(sketch.rank))
    sizes = tuple(sketch.size(dim) for dim in full)
    front, back = sizes[:along], sizes[along + 1 :]
    return (*front, _LENGTHS[form], *back), (*front, 2, *back)


def _repeated(values: tuple[int | float, ...], count: int) -> Fill:
    return Literal(tuple(values[at % len(values)] for at in range(count)))


def scales(kind: str, dtype: str, count: int) -> Fill:
    """So many scales of ``dtype``."""
    if "int" in dtype:
        return _repeated((2, 1, 3), count)
    return _repeated(SCALES["dyadic" if dtype == "float8_e8m0fnu" else kind], count)


def zero_points(dtype: str, count: int) -> Fill:
    """So many zero points of ``dtype``; floats and int32 have no other than 0."""
    if "float" in dtype or dtype == "int32":
        return _repeated((0,), count)
    return _repeated((1, 3, 0, 2) if dtype[0] == "u" else (1, -1, 0, -2), count)


def _operands(sketch: Sketch, scale: str, zero: str) -> tuple[str, str, str]:
    """The tensor, its scales and its zero points, if it has some."""
    shape, own = _shapes(sketch)
    data = sketch.data("x", shape, input_dtype(sketch, "x"))
    dtype, count = input_dtype(sketch, scale), prod(own)
    scaled = sketch.parameter(scale, own, dtype, scales(sketch.text("scale"), dtype, count))
    shifted = ""
    if sketch.has(with_(zero)):
        dtype = input_dtype(sketch, zero)
        shifted = sketch.parameter(zero, own, dtype, zero_points(dtype, count))
    return data, scaled, shifted


def _block_size(sketch: Sketch) -> int | None:
    value = sketch.point["block_size"]
    if sketch.text(GRANULARITY) in _LENGTHS:
        return _BLOCK
    return None if value is None else int(str(value))


def _quantize(sketch: Sketch) -> None:
    data, scale, zero = _operands(sketch, "y_scale", "y_zero_point")
    dtype = input_dtype(sketch, "y_zero_point")
    sketch.node(
        data,
        scale,
        zero,
        axis=whole(sketch, AXIS),
        block_size=_block_size(sketch),
        output_dtype=code_of(dtype) if sketch.has(_OUTPUT) else None,
        precision=code(sketch, "precision"),
        saturate=whole(sketch, "saturate"),
    )


def _quantized(version: Schema, point: Point) -> Value:
    """The dtype of the quantized tensor; None where it is not chosen yet."""
    parameter = version.input("y_zero_point")
    return None if parameter is None else point.get(parameter.type)


def _zeros(version: Schema, point: Point, value: Value) -> bool:
    """Zero points alone say the dtype, where no attribute does and it is not the default."""
    stated = _OUTPUT in version.attributes
    return value is True or stated or _quantized(version, point) in (None, "uint8")


def _outputs(version: Schema, point: Point, value: Value) -> bool:
    if value is True:
        return _OUTPUT in version.attributes
    zero = point.get(with_("y_zero_point"), True)
    return zero is True or _quantized(version, point) in (None, "uint8")


def _saturates(version: Schema, point: Point, value: Value) -> bool:
    if value is None:
        return True
    dtype = str(_quantized(version, point) or "float8_e5m2")
    return "saturate" in version.attributes and (value == 1 or "float8" in dtype)


_PRECISIONS = ("float32", "float16", "bfloat16")
"""The dtypes of quotients: those of integers and of powers of two are no quotients' own."""


def _precise(version: Schema, point: Point, value: Value) -> bool:
    return value is None or "precision" in version.attributes


def _dequantize(sketch: Sketch) -> None:
    data, scale, zero = _operands(sketch, "x_scale", "x_zero_point")
    sketch.node(
        data,
        scale,
        zero,
        axis=whole(sketch, AXIS),
        block_size=_block_size(sketch),
        output_dtype=code(sketch, _OUTPUT),
    )


def _results(version: Schema, point: Point, value: Value) -> bool:
    # No result has the dtype of such a scale, which is the default.
    if value is None:
        return point.get("T2") != "float8_e8m0fnu"
    return _OUTPUT in version.attributes and value in version.types["T3"]


def _axes(operator: str) -> tuple[Axis, ...]:
    forms = (TENSOR, ALONG, BLOCKS, RAGGED)
    return (
        by_version(operator, GRANULARITY, forms, _granularities, TENSOR),
        by_version(operator, AXIS, (None, 0, 1, -1, 2), _dimensions),
        attribute(operator, "block_size", (0,)),
        Axis("scale", tuple(SCALES), "dyadic"),
    )


def _dynamic(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape(filled=range(sketch.rank)), "float32")
    sketch.node(data, outputs=3)


HINTS = (
    Hint(
        "QuantizeLinear",
        _quantize,
        (
            *_axes("QuantizeLinear"),
            by_version("QuantizeLinear", with_("y_zero_point"), (True, False), _zeros, True),
            by_version("QuantizeLinear", _OUTPUT, (False, True), _outputs, False),
            by_version("QuantizeLinear", "saturate", (None, 1, 0), _saturates),
            by_version("QuantizeLinear", "precision", (None, *_PRECISIONS), _precise),
        ),
    ),
    Hint(
        "DequantizeLinear",
        _dequantize,
        (
            *_axes("DequantizeLinear"),
            Axis(with_("x_zero_point"), (True, False), True),
            by_version(
                "DequantizeLinear", _OUTPUT, (None, "float32", "float16", "bfloat16"), _results
            ),
        ),
    ),
    Hint("DynamicQuantizeLinear", _dynamic, held=()),
)
