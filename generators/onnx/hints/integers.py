"""Products and convolutions of quantized tensors."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.onnx.choices import input_dtype, whole
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.hints.quantizing import SCALES, scales, zero_points
from relaxcheck.generators.onnx.model import Attribute
from relaxcheck.generators.onnx.sketch import Sketch

_FORM = "form"
_FORMS = ("matrices", "batches", "batch-matrix", "matrix-batch", "vector-matrix", "matrix-vector")
_ZEROS = "zero points"
_SINGLE, _COLUMNS, _MANY = "single", "columns", "many"
"""Zero points and scales of tensors; one for each column of the right one; for each row of the left
one, too."""


def _factors(sketch: Sketch) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """The shapes of two factors, whose rows and columns are numbers if they are scaled apart."""
    kind = sketch.text(_ZEROS)
    rows = sketch.dim(0, fixed=kind == _MANY, last=2)
    inner = sketch.dim(1, last=2)
    columns = sketch.dim(2, fixed=kind != _SINGLE)
    batch = sketch.dim(3, last=3)
    left: tuple[Dim, ...] = (rows, inner)
    right: tuple[Dim, ...] = (inner, columns)
    match sketch.point[_FORM]:
        case "batches":
            return (batch, *left), (batch, *right)
        case "batch-matrix":
            return (batch, *left), right
        case "matrix-batch":
            return left, (batch, *right)
        case "vector-matrix":
            return left[1:], right
        case "matrix-vector":
            return left, right[:1]
    return left, right


def _each(point: Point, value: Value) -> bool:
    """Rows of a matrix, and columns, have zero points of their own."""
    several = ("matrices", "batch-matrix", "vector-matrix") if value == _COLUMNS else ("matrices",)
    return value == _SINGLE or point.get(_FORM, "matrices") in several


def _own(sketch: Sketch, name: str) -> bool:
    """True if the tensor whose scales or zero points are called ``name`` has several."""
    kind = sketch.text(_ZEROS)
    return kind == _MANY or (kind == _COLUMNS and name[0] in "bw")


def _zero(sketch: Sketch, name: str, dim: Dim) -> str:
    """The zero points ``name``: one, or one for each element of ``dim``."""
    many = _own(sketch, name)
    dtype, count = input_dtype(sketch, name), sketch.size(dim) if many else 1
    fill = zero_points(dtype, count)
    return sketch.parameter(name, (count,) if many else (), dtype, fill)


def _product(sketch: Sketch) -> None:
    left, right = _factors(sketch)
    first = sketch.data("a", left, sketch.dtype("T1"))
    second = sketch.parameter("b", right, sketch.dtype("T2"))
    zeros = [
        _zero(sketch, name, dim) if sketch.has(with_(name)) else ""
        for name, dim in (("a_zero_point", left[-2:][0]), ("b_zero_point", right[-1]))
    ]
    sketch.node(first, second, *zeros)


def _scaled(sketch: Sketch, name: str, dim: Dim, *, single: bool = False) -> tuple[str, str]:
    """The scales and zero points of the tensor ``name``."""
    many = _own(sketch, name) and not single
    count = sketch.size(dim) if many else 1
    shape = (count,) if many else ()
    scale, zero = f"{name}_scale", f"{name}_zero_point"
    kinds = input_dtype(sketch, scale), input_dtype(sketch, zero)
    return (
        sketch.parameter(scale, shape, kinds[0], scales(sketch.text("scale"), kinds[0], count)),
        sketch.parameter(zero, shape, kinds[1], zero_points(kinds[1], count)),
    )


def _scaled_product(sketch: Sketch) -> None:
    left, right = _factors(sketch)
    first = sketch.data("a", left, sketch.dtype("T1"))
    first_scaled = _scaled(sketch, "a", left[-2:][0])
    second = sketch.parameter("b", right, sketch.dtype("T2"))
    second_scaled = _scaled(sketch, "b", right[-1])
    sketch.node(first, *first_scaled, second, *second_scaled, *_scaled(sketch, "y", 1, single=True))


_PLAIN, _STRIDED, _PADDED, _DILATED = "plain", "strided", "padded", "dilated"
_UNEVEN = "uneven"
_WINDOWS = (_PLAIN, _STRIDED, _PADDED, _DILATED, _UNEVEN)
_EXTENT = 6
_LEAST = 5
"""The smallest extent: that of three elements, each second one."""


def _window(sketch: Sketch) -> dict[str, tuple[int, ...] | None]:
    """The strides, pads and dilations."""
    count = sketch.rank - 2
    none: dict[str, tuple[int, ...] | None] = {}
    match sketch.point["window"]:
        case "strided":
            return {"strides": (2,) * count}
        case "padded":
            return {"pads": (1,) * (2 * count)}
        case "dilated":
            return {"dilations": (2,) * count}
        case "uneven":
            numbers = range(count)
            return {
                "strides": tuple(1 + at % 2 for at in numbers),
                "pads": (*(at % 2 for at in numbers), *(2 - at % 2 for at in numbers)),
                "dilations": tuple(2 - at % 2 for at in numbers),
            }
    return none


def _convolved(sketch: Sketch) -> tuple[tuple[Dim, ...], tuple[int, ...]]:
    """The shapes of data and weights."""
    groups = whole(sketch, "group") or 1
    space: list[Dim] = []
    for at in range(2, sketch.rank):
        dim = sketch.symbol(at, _EXTENT)
        if isinstance(dim, str):
            sketch.least[dim] = _LEAST
        space.append(dim)
    kernel = tuple(3 - at % 2 for at in range(sketch.rank - 2))
    return (sketch.dim(0, last=0), 2 * groups, *space), (2 * groups, 2, *kernel)


def _attributes(sketch: Sketch, weight: tuple[int, ...]) -> dict[str, Attribute | None]:
    padding = sketch.point["auto_pad"]
    return {
        **_window(sketch),
        "auto_pad": padding,
        "group": whole(sketch, "group"),
        "kernel_shape": weight[2:] if sketch.has("kernel_shape") else None,
    }


def _convolution(sketch: Sketch) -> None:
    shape, weight = _convolved(sketch)
    data = sketch.data("x", shape, sketch.dtype("T1"))
    kernel = sketch.parameter("w", weight, sketch.dtype("T2"))
    zeros = ["", ""]
    if sketch.has(with_("x_zero_point")):
        dtype = sketch.dtype("T1")
        zeros[0] = sketch.parameter("x_zero_point", (), dtype, zero_points(dtype, 1))
    if sketch.has(with_("w_zero_point")):
        zeros[1] = _zero(sketch, "w_zero_point", weight[0])
    sketch.node(data, kernel, *zeros, settings=_attributes(sketch, weight))


def _scaled_convolution(sketch: Sketch) -> None:
    shape, weight = _convolved(sketch)
    data = sketch.data("x", shape, sketch.dtype("T1"))
    data_scaled = _scaled(sketch, "x", 1, single=True)
    kernel = sketch.parameter("w", weight, sketch.dtype("T2"))
    kernel_scaled = _scaled(sketch, "w", weight[0])
    result_scaled = _scaled(sketch, "y", 1, single=True)
    bias = ""
    if sketch.has(with_("B")):
        values = tuple(3 * at - 2 for at in range(weight[0]))
        bias = sketch.parameter("B", weight[:1], "int32", Literal(values))
    operands = (data, *data_scaled, kernel, *kernel_scaled, *result_scaled, bias)
    sketch.node(*operands, settings=_attributes(sketch, weight))


def _automatic(point: Point, value: Value) -> bool:
    return value == "NOTSET" or point.get("window") in (None, _PLAIN, _STRIDED)


def _convolution_axes(operator: str) -> tuple[Axis, ...]:
    return (
        Axis("window", _WINDOWS, _PLAIN),
        attribute(
            operator, "auto_pad", ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"), _automatic
        ),
        attribute(operator, "group", (1, 2)),
        Axis("kernel_shape", (True, None), True),
        Axis(_ZEROS, (_SINGLE, _COLUMNS), _SINGLE),
    )


_SCALE = Axis("scale", tuple(SCALES), "dyadic")
_SPACES = (4, 3, 5)

HINTS = (
    Hint(
        "MatMulInteger",
        _product,
        (
            Axis(_FORM, _FORMS, "matrices"),
            Axis(_ZEROS, (_SINGLE, _COLUMNS, _MANY), _SINGLE, _each),
            optional("MatMulInteger", "a_zero_point"),
            optional("MatMulInteger", "b_zero_point"),
        ),
        ranks=(),
    ),
    Hint(
        "QLinearMatMul",
        _scaled_product,
        (
            Axis(_FORM, _FORMS, "matrices"),
            Axis(_ZEROS, (_SINGLE, _COLUMNS, _MANY), _SINGLE, _each),
            _SCALE,
        ),
        ranks=(),
    ),
    Hint(
        "ConvInteger",
        _convolution,
        (
            *_convolution_axes("ConvInteger"),
            optional("ConvInteger", "x_zero_point"),
            optional("ConvInteger", "w_zero_point"),
        ),
        ranks=_SPACES,
    ),
    Hint(
        "QLinearConv",
        _scaled_convolution,
        (*_convolution_axes("QLinearConv"), _SCALE, optional("QLinearConv", "B")),
        ranks=_SPACES,
    ),
)
