"""The functions that an operator may call, as an axis, and calls of them."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.called.meanings import FUNCTIONS, result_shapes
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.operand import DTYPE, Fits, at_least
from relaxcheck.generators.core.points import text
from relaxcheck.generators.core.program import Attribute, Node
from relaxcheck.generators.operators.record import FLOATS

FUNCTION = "function"

SIGNED = ("int32", "int8", "int64")

_SUMMED = (*FLOATS, "int32", "int64")

_NUMBERS = (*FLOATS, *SIGNED, "uint8")

_DTYPES = {
    "opposite": (*FLOATS, *SIGNED),
    "row_sum": _SUMMED,
    "difference": _NUMBERS,
    "opposite_and_sum": _SUMMED,
    "sum_and_opposite": _SUMMED,
    "opposites": (*FLOATS, *SIGNED),
    "at_most": _NUMBERS,
    "clipped": (*FLOATS, *SIGNED),
}
"""By function; the others move elements of any dtype."""

_SUMS = ("row_sum", "opposite_and_sum", "sum_and_opposite")


def fits(shape: Sequence[Dim], dtype: str, function: str) -> bool:
    """Return True if ``function`` takes arguments of ``shape`` and ``dtype``."""
    if dtype not in _DTYPES.get(function, (dtype,)):
        return False
    if function in _SUMS:
        # A sum is initialised in its first iteration: without iterations, it never is.
        return bool(shape) and at_least(shape[-1], 1)
    return bool(shape) or function not in ("at_most", "spread")


def function_axis(*functions: str) -> Axis:
    """The axis of the function that is called, ``functions`` by name."""
    return Axis(FUNCTION, functions, functions[0], Fits(fits, (DTYPE,)))


def further_arguments(function: str, shape: Sequence[Dim]) -> dict[str, Attribute]:
    """The attributes by which a call passes what ``function`` takes behind tensors of ``shape``."""
    match FUNCTIONS[function].further:
        case "size":
            return {"extent": shape_value(shape[:1])}
        case "lead":
            return {"lead": shape_value((shape[0], *shape))}
        case "bounds":
            return {"low": -1, "high": 2}
    return {}


def call(
    draft: Draft,
    operator: str,
    arguments: Sequence[Value],
    function: str,
    /,
    **attributes: Attribute,
) -> list[Value]:
    """The results of a call of ``function`` by ``operator``."""
    shape, dtype = arguments[0].shape, arguments[0].dtype
    if function in _SUMS:
        draft.require(shape[-1], 1)
    own: dict[str, Attribute] = {
        FUNCTION: function,
        "of": shape_value(shape),
        "dtype": dtype,
        **further_arguments(function, shape),
        **attributes,
    }
    shapes = result_shapes(Node("", operator, (), own))
    if len(shapes) == 1:
        return [draft.call(operator, arguments, shapes[0], **own)]
    return draft.items(operator, arguments, shapes, **own)


def arguments(draft: Draft, value: Value, point: Point) -> list[Value]:
    """``value``, and the other arguments of the function at ``point``."""
    count = FUNCTIONS[text(point, FUNCTION)].arguments
    return [value, *(draft.operand(value.shape, value.dtype) for _ in range(count - 1))]
