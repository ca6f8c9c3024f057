"""Operators element by element: of one operand, and of two that broadcast."""

from functools import partial

from relaxcheck.generators.core.axes import Axis
from relaxcheck.generators.core.fills.kinds import Fill, Positive
from relaxcheck.generators.onnx.hint import Hint, attribute
from relaxcheck.generators.onnx.model import NAMELESS
from relaxcheck.generators.onnx.sketch import DIMS_WAYS, Sketch

_UNARY = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Cos"),
    *("Cosh", "Erf", "Exp", "Floor", "HardSwish", "Identity", "IsNaN", "Log", "Mish", "Neg"),
    *("Not", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus"),
    *("Softsign", "Sqrt", "Tan", "Tanh"),
)

_FILLS: dict[str, Fill] = {"Log": Positive(0.5), "Sqrt": Positive(0.0), "Acosh": Positive(1.0)}
"""The values of operands where most others give NaN, unless the regime is special."""

_BINARY = (
    *("Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater"),
    *("GreaterOrEqual", "Less", "LessOrEqual", "Mul", "Or", "Sub", "Xor"),
)

FORM = "form"
FORMS = ("same", "row", "column", "scalar", "left-row", "left-scalar", "ones")
"""The shapes of two operands: the same; the right one without leading dimensions, with ones for all
but the first, or of a single element; the left one so; ones in both."""


def unary(sketch: Sketch, **attributes: object) -> None:
    """One operand, and a result of its shape."""
    name = sketch.schema.operator
    dtype = sketch.dtype(sketch.schema.inputs[0].type)
    fill = _FILLS.get(name) if sketch.point["regime"] != "special" else None
    data = sketch.data("x", sketch.shape(), dtype, fill)
    sketch.node(data, **attributes)  # type: ignore[arg-type]


def _binary(sketch: Sketch) -> None:
    left, right = broadcast(sketch)
    dtype = sketch.dtype(sketch.schema.inputs[0].type)
    fill = Positive(1.0) if sketch.schema.operator == "Div" else None
    first = sketch.data("a", left, dtype)
    sketch.node(first, sketch.parameter("b", right, dtype, fill))


def broadcast(sketch: Sketch) -> tuple[tuple[int | str, ...], tuple[int | str, ...]]:
    """The shapes of two operands at the axis ``form``."""
    full = sketch.shape()
    row, column = full[1:], full[:1] + (1,) * (len(full) - 1)
    match sketch.point[FORM]:
        case "row":
            return full, row
        case "column":
            return full, column
        case "scalar":
            return full, ()
        case "left-row":
            return row, full
        case "left-scalar":
            return (), full
        case "ones":
            return column, (1,) * (len(full) > 0) + row
    return full, full


def _with_numbers(names: tuple[str, ...], sketch: Sketch) -> None:
    numbers = {name: float(sketch.text(name)) for name in names if sketch.has(name)}
    unary(sketch, **numbers)


def _decimals(operator: str, **values: tuple[str, ...]) -> Hint:
    """The hint of an operator of one operand whose attributes are numbers."""
    axes = tuple(attribute(operator, name, texts) for name, texts in values.items())
    return Hint(operator, partial(_with_numbers, tuple(values)), axes, held=())


def binary_axes() -> tuple[Axis, ...]:
    """The axis of the operands' shapes."""
    return (Axis(FORM, FORMS, "same"),)


_EVERY_WAY = (*DIMS_WAYS, NAMELESS)


def _ways(operator: str) -> tuple[str, ...]:
    """The ways to state dimensions: the nameless one is the importer's, whatever the operator."""
    return _EVERY_WAY if operator in ("Identity", "Add") else DIMS_WAYS


HINTS = (
    *(Hint(name, unary, held=(), dims=_ways(name)) for name in _UNARY),
    *(Hint(name, _binary, binary_axes(), dims=_ways(name)) for name in _BINARY),
    _decimals("LeakyRelu", alpha=("0.25", "-0.5", "0")),
    _decimals("Elu", alpha=("0.5", "2")),
    _decimals("Selu", alpha=("2",), gamma=("0.5",)),
    _decimals("Celu", alpha=("0.5", "2")),
    _decimals("ThresholdedRelu", alpha=("0.5", "0")),
    _decimals("HardSigmoid", alpha=("0.5",), beta=("0.25",)),
    _decimals("Shrink", lambd=("1", "0"), bias=("0.25",)),
    _decimals("Swish", alpha=("2", "-1")),
)
