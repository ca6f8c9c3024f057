"""The arithmetic of known values: nodes that compute element by element.

Symbols are sizes, and so not negative.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.graph.known import Known
from relaxcheck.fixes.frontends.onnx.graph.ranges import at_least, at_most
from relaxcheck.fixes.tvm_api import shapes

UPSTREAM = NewFile("relax/frontend/onnx/known_arithmetic.py")

Inputs = Sequence[Known | None]
Attributes = Mapping[str, Any]
Evaluate = Callable[[Inputs, Attributes], Known | None]
"""The known output of a node with known inputs (None: left out), or None if it is not known."""

_LONGEST = 64


def _of(array: Any) -> Known | None:
    """The value ``array``, if it is of a kind that values of shapes have."""
    return known.of_array(np.asarray(array))


def _all_numbers(inputs: Inputs) -> bool:
    return not any(each is not None and each.symbolic for each in inputs)


def _elementwise(
    numbers: Callable[..., Any], symbols: Callable[[Any, Any], Any] | None = None
) -> Evaluate:
    """Element by element over two operands or more: ``numbers`` of arrays, ``symbols`` of pairs.

    ``symbols`` gets integers and expressions, and returns None for what it cannot say.
    """

    def evaluate(inputs: Inputs, attributes: Attributes) -> Known | None:
        operands = [each for each in inputs if each is not None]
        result = operands[0]
        for operand in operands[1:]:
            combined = _pair(result, operand, numbers, symbols)
            if combined is None:
                return None
            result = combined
        return result if len(operands) > 1 else None

    return evaluate


def _pair(
    left: Known,
    right: Known,
    numbers: Callable[..., Any],
    symbols: Callable[[Any, Any], Any] | None,
) -> Known | None:
    if left.dtype != right.dtype:
        return None
    if _all_numbers((left, right)):
        computed = numbers(left.array, right.array)
        return None if computed is None else _of(computed)
    if symbols is None or left.dtype != "int64":
        return None
    pairs = np.broadcast(left.values, right.values)
    values = [symbols(*pair) for pair in pairs]
    if any(value is None for value in values):
        return None
    dtype = "bool" if values and isinstance(values[0], bool) else "int64"
    plain = [known.number_of(value) for value in values]
    return Known(known.objects(plain, pairs.shape), dtype)


def _quotient(left: NDArray[Any], right: NDArray[Any]) -> Any:
    """The quotient, which ONNX truncates where it is an integer; None where there is none."""
    if left.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return (left / right).astype(left.dtype)
    if not right.all():
        return None
    whole = np.abs(left) // np.abs(right)
    return np.where((left < 0) == (right < 0), whole, -whole).astype(left.dtype)


def _symbolic_quotient(left: Any, right: Any) -> Any:
    if isinstance(right, int) and right == 0:
        return None
    dividend, divisor = known.dim_of(left), known.dim_of(right)
    analyzer = shapes.sizes_analyzer([dividend, divisor])
    if analyzer.can_prove(dividend >= 0) and analyzer.can_prove(divisor > 0):
        return tvm_api.floordiv(dividend, divisor)
    return None


def _remainder(left: NDArray[Any], right: NDArray[Any]) -> Any:
    return None if left.dtype.kind == "f" or not right.all() else np.mod(left, right)


def _symbolic_remainder(left: Any, right: Any) -> Any:
    if not isinstance(right, int) or right < 1:
        return None
    return tvm_api.floormod(known.dim_of(left), known.dim_of(right))


def _compared(condition: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool | None]:
    """A comparison of symbols, whose result is known if the analyzer proves it or its opposite."""

    def compare(left: Any, right: Any) -> bool | None:
        if isinstance(left, int) and isinstance(right, int):
            return bool(condition(left, right))
        first, second = known.dim_of(left), known.dim_of(right)
        claim = condition(first, second)
        if isinstance(claim, bool):
            return claim
        analyzer = shapes.sizes_analyzer([first, second])
        if analyzer.can_prove(claim):
            return True
        return False if analyzer.can_prove(tvm_api.negated(claim)) else None

    return compare


def _equal(left: Any, right: Any) -> Any:
    """``left == right``; the operator does not always build a condition of expressions."""
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    return tvm_api.equal(left, right)


def _of_each(numbers: Callable[[NDArray[Any]], Any]) -> Evaluate:
    """Element by element over one operand that has no symbols."""

    def evaluate(inputs: Inputs, attributes: Attributes) -> Known | None:
        data = inputs[0]
        return None if data is None or data.symbolic else _of(numbers(data.array))

    return evaluate


def _negative(inputs: Inputs, attributes: Attributes) -> Known | None:
    data = inputs[0]
    if data is None:
        return None
    if not data.symbolic:
        return _of(-data.array)
    return Known(known.objects([-each for each in data.values.flat], data.values.shape))


def _where(inputs: Inputs, attributes: Attributes) -> Known | None:
    condition, left, right = inputs[:3]
    if condition is None or left is None or right is None or condition.symbolic:
        return None
    triples = np.broadcast(condition.values, left.values, right.values)
    values = [kept if holds else other for holds, kept, other in triples]
    return Known(known.objects(values, triples.shape), left.dtype)


_TARGETS = {1: "float32", 6: "int32", 7: "int64", 9: "bool", 11: "float64"}
"""The dtypes to cast to, by ONNX's number."""


def _cast(inputs: Inputs, attributes: Attributes) -> Known | None:
    data, dtype = inputs[0], _TARGETS.get(attributes.get("to", 0))
    if data is None or dtype is None:
        return None
    if data.symbolic:
        return data if dtype == data.dtype else None
    array = data.array
    if array.dtype.kind == "f" and dtype.startswith("int"):
        limits = np.iinfo(dtype)
        # Out of range, the result is not defined.
        if not ((array > float(limits.min)) & (array < float(limits.max))).all():
            return None
    return _of(array.astype(dtype))


def _floor_like(function: Callable[[Any], Any]) -> Evaluate:
    def evaluate(inputs: Inputs, attributes: Attributes) -> Known | None:
        data = inputs[0]
        if data is None or data.symbolic or not data.dtype.startswith("float"):
            return None
        return _of(function(data.array).astype(data.dtype))

    return evaluate


def _modulo(inputs: Inputs, attributes: Attributes) -> Known | None:
    if attributes.get("fmod", 0):
        return None
    return _elementwise(_remainder, _symbolic_remainder)(inputs, attributes)


ARITHMETIC: dict[str, Evaluate] = {
    "Add": _elementwise(np.add, lambda a, b: a + b),
    "Sub": _elementwise(np.subtract, lambda a, b: a - b),
    "Mul": _elementwise(np.multiply, lambda a, b: a * b),
    "Div": _elementwise(_quotient, _symbolic_quotient),
    "Sum": _elementwise(np.add, lambda a, b: a + b),
    "Max": _elementwise(np.maximum, at_least),
    "Min": _elementwise(np.minimum, at_most),
    "Less": _elementwise(np.less, _compared(lambda a, b: a < b)),
    "LessOrEqual": _elementwise(np.less_equal, _compared(lambda a, b: a <= b)),
    "Greater": _elementwise(np.greater, _compared(lambda a, b: a > b)),
    "GreaterOrEqual": _elementwise(np.greater_equal, _compared(lambda a, b: a >= b)),
    "Equal": _elementwise(np.equal, _compared(_equal)),
    "And": _elementwise(np.logical_and),
    "Or": _elementwise(np.logical_or),
    "Not": _of_each(np.logical_not),
    "Abs": _of_each(np.abs),
    "Neg": _negative,
    "Floor": _floor_like(np.floor),
    "Ceil": _floor_like(np.ceil),
    "Where": _where,
    "Mod": _modulo,
    "Cast": _cast,
}
"""By operator, the output of a node with known inputs."""
