"""The values of an expression at every point of a grid, vectorised with NumPy.

Exact: every node carries bounds on its values, and where they leave the range of int64 it is
computed with Python's integers. Bounds also say where there is nothing to mask, which is nearly
everywhere, so that most nodes cost one operation on arrays.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from relaxcheck.generators.expressions.grids import Array, Grid, Values
from relaxcheck.generators.expressions.language import BITS, BOOL, LIMITS, Expression

_LOW, _HIGH = LIMITS["int64"]


def evaluate(expression: Expression, points: Grid) -> Values:
    """The value of ``expression`` at each of ``points``.

    Raises:
        KeyError: a variable is not one of the grid's.
    """
    operator = expression.operator
    if operator == "const":
        value = expression.leaf
        return Values(value, value, value, None)  # type: ignore[arg-type]
    if operator == "var":
        name: str = expression.leaf  # type: ignore[assignment]
        return points.leaves[name]
    operands = expression.operands
    if len(operands) == 2:
        left, right = operands
        return _OPERATIONS[operator](expression, evaluate(left, points), evaluate(right, points))
    return _OPERATIONS[operator](expression, *(evaluate(operand, points) for operand in operands))


def everywhere(values: Values, points: Grid) -> Array:
    """``values.values`` as a vector over all points."""
    array = values.values
    if np.ndim(array):
        return np.asarray(array)
    vector: Array = np.broadcast_to(np.asarray(array), (points.size,))
    return vector


def _either(left: Any, right: Any) -> Any:
    if left is None:
        return right
    return left if right is None else left | right


class _Masks(NamedTuple):
    """The masks of ``Values``, each within the one before."""

    invalid: Any = None
    lost: Any = None
    traps: Any = None

    def lost_at(self, points: Any) -> "_Masks":
        """Without a value at ``points`` too."""
        return _Masks(_either(self.invalid, points), _either(self.lost, points), self.traps)

    def trapping_at(self, points: Any) -> "_Masks":
        """Trapping at ``points`` too, unless they are None."""
        if points is None:
            return self
        return _Masks(*(_either(mask, points) for mask in self))


_NOWHERE = _Masks()


def _masks(left: Values, right: Values) -> _Masks:
    """Those of what needs both operands."""
    if left.invalid is None:
        return _NOWHERE if right.invalid is None else _Masks(*right[3:])
    return _Masks(*map(_either, left[3:], right[3:]))


def _safe(low: int, high: int, *operands: Values) -> list[Any]:
    """The operands' values, as Python's integers where they or the result need more than int64."""
    # ``low`` covers values below int64's range; above it, a uint64 operand may be alone.
    if low >= _LOW and high <= _HIGH and operands[0].high <= _HIGH and operands[-1].high <= _HIGH:
        return [each.values for each in operands]
    return [np.asarray(each.values).astype(object) for each in operands]


def _is_wide(values: Any) -> bool:
    """True if it is an array of Python's integers."""
    return isinstance(values, np.ndarray) and values.dtype.kind == "O"


def _fitted(dtype: str, values: Any, low: int, high: int, masks: _Masks) -> Values:
    """The result of an exact operation; without a value where ``dtype`` does not hold it."""
    smallest, largest = LIMITS[dtype]
    if low >= smallest and high <= largest:
        return Values(values, low, high, *masks)
    bad = (values < smallest) | (values > largest)
    if low < _LOW or high > _HIGH:
        values = np.asarray(values).astype(object)
    low, high = max(low, smallest), min(high, largest)
    if np.any(bad):
        values, low, high = np.where(bad, smallest, values), smallest, max(high, smallest)
        masks = masks.lost_at(np.asarray(bad, bool))
    if _is_wide(values) and largest <= _HIGH:
        values = values.astype(np.int64)
    return Values(values, low, high, *masks)


_Operation = Callable[..., Values]


def _exact(
    function: Callable[[Any, Any], Any], bounds: Callable[[Values, Values], tuple[int, int]]
) -> _Operation:
    def run(node: Expression, left: Values, right: Values) -> Values:
        low, high = bounds(left, right)
        values = function(*_safe(low, high, left, right))
        return _fitted(node.dtype, values, low, high, _masks(left, right))

    return run


def _product_bounds(left: Values, right: Values) -> tuple[int, int]:
    corners = [first * other for first in left[1:3] for other in right[1:3]]
    return min(corners), max(corners)


def _quotient_bounds(left: Values, right: Values) -> tuple[int, int]:
    if left.low >= 0 and right.low >= 0:
        return 0, left.high
    largest = max(abs(left.low), abs(left.high))
    return -largest, largest


def _remainder_bounds(left: Values, right: Values) -> tuple[int, int]:
    if left.low >= 0 and right.low >= 0:
        return 0, max(right.high - 1, 0)
    largest = max(abs(right.low), abs(right.high))
    return -largest, largest


def _divided(
    function: Callable[[Any, Any], Any], bounds: Callable[[Values, Values], tuple[int, int]]
) -> _Operation:
    def run(node: Expression, left: Values, right: Values) -> Values:
        low, high = bounds(left, right)
        dividend, divisor = _safe(low, high, left, right)
        # A divisor without a value may be zero.
        masks = _masks(left, right).trapping_at(right.lost)
        if right.low <= 0 <= right.high:
            zero = np.equal(divisor, 0)
            if np.any(zero):
                masks = masks.trapping_at(np.asarray(zero, bool))
                divisor = np.where(zero, 1, divisor)
        lowest = LIMITS[node.dtype][0]
        if lowest < 0 and right.low <= -1 <= right.high:
            largest = _either(np.equal(dividend, lowest), left.lost)
            beyond = largest & np.equal(divisor, -1)
            if np.any(beyond):
                masks = masks.trapping_at(beyond)
        return _fitted(node.dtype, function(dividend, divisor), low, high, masks)

    return run


def _truncmod(dividend: Any, divisor: Any) -> Any:
    floored = dividend % divisor
    other = np.not_equal(floored, 0) & ((dividend < 0) != (divisor < 0))
    return np.where(other, floored - divisor, floored)


def _truncdiv(dividend: Any, divisor: Any) -> Any:
    return (dividend - _truncmod(dividend, divisor)) // divisor


def _truncated(function: Callable[[Any, Any], Any], floored: _Operation, signed: Any) -> _Operation:
    careful = _divided(function, signed)

    def run(node: Expression, left: Values, right: Values) -> Values:
        same = left.low >= 0 and right.low >= 0
        return (floored if same else careful)(node, left, right)

    return run


def _shifted(left_shift: bool) -> _Operation:
    def run(node: Expression, left: Values, right: Values) -> Values:
        bits = BITS[node.dtype]
        most = min(max(right.high, 0), bits - 1)
        low, high = min(left.low, 0), max(left.high, 0)
        if left_shift:
            low, high = low << most, high << most
        value, count = _safe(low, high, left, right)
        masks = _masks(left, right)
        if right.low < 0 or right.high >= bits:
            bad = np.less(count, 0) | np.greater_equal(count, bits)
            if np.any(bad):
                masks = masks.lost_at(np.asarray(bad, bool))
                count = np.where(bad, 0, count)
        shifted = value << count if left_shift else value >> count
        return _fitted(node.dtype, shifted, low, high, masks)

    return run


def _bitwise(function: Callable[[Any, Any], Any]) -> _Operation:
    def run(node: Expression, left: Values, right: Values) -> Values:
        low, high = LIMITS[node.dtype]
        if left.low >= 0 and right.low >= 0:
            low, high = 0, (1 << max(left.high, right.high).bit_length()) - 1
        values = function(*_safe(low, high, left, right))
        return Values(values, low, high, *_masks(left, right))

    return run


def _compared(function: Callable[[Any, Any], Any]) -> _Operation:
    def run(node: Expression, left: Values, right: Values) -> Values:
        values = function(*_safe(0, 1, left, right))
        if _is_wide(values):
            values = values.astype(bool)
        return Values(values, 0, 1, *_masks(left, right))

    return run


def _logical(function: Callable[[Any, Any], Any], decides: bool) -> _Operation:
    """``and`` or ``or``: where an operand is ``decides``, the other one is not used."""

    def run(node: Expression, left: Values, right: Values) -> Values:
        values = function(left.values, right.values)
        masks = _masks(left, right)
        if masks.lost is not None:
            decided = _either(_is(decides, left), _is(decides, right))
            used = masks.lost & np.logical_not(decided)
            masks = masks._replace(lost=_either(used, masks.traps))
        return Values(values, 0, 1, *masks)

    return run


def _is(wanted: bool, operand: Values) -> Any:
    """Where ``operand``, a condition, has the value ``wanted``."""
    has = np.equal(np.asarray(operand.values, bool), wanted)
    return has if operand.lost is None else has & np.logical_not(operand.lost)


def _negated(node: Expression, operand: Values) -> Values:
    return operand._replace(values=np.logical_not(operand.values), low=0, high=1)


def _chosen(node: Expression, condition: Values, then: Values, otherwise: Values) -> Values:
    low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
    left, right = _safe(low, high, then, otherwise)
    taken = np.asarray(condition.values, bool)
    values = np.where(taken, left, right)
    both = _masks(then, otherwise)
    if both is _NOWHERE:
        return Values(values, low, high, *condition[3:])
    masks = _Masks(*(_of(taken, *pair) for pair in zip(then[3:], otherwise[3:], strict=True)))
    if node.operator == "select":
        masks = masks.trapping_at(both.traps)
    elif both.traps is not None and condition.lost is not None:
        # A condition without a value may take either branch.
        masks = masks.trapping_at(both.traps & condition.lost)
    return Values(values, low, high, *map(_either, masks, condition[3:]))


def _of(taken: Array, then: Any, otherwise: Any) -> Any:
    """The mask of the branch that is taken."""
    if then is None and otherwise is None:
        return None
    return np.where(taken, *(False if each is None else each for each in (then, otherwise)))


def _cast(node: Expression, operand: Values) -> Values:
    low, high = LIMITS[node.dtype]
    source = node.operands[0].dtype
    if node.dtype == BOOL:
        return operand._replace(values=np.not_equal(operand.values, 0), low=0, high=1)
    if source == BOOL:
        return operand._replace(values=np.asarray(operand.values).astype(np.int64), low=0, high=1)
    if low <= operand.low and operand.high <= high:
        return operand
    wide = 1 << BITS[node.dtype]
    values = np.asarray(_safe(-wide, wide, operand)[0])
    # An operation on arrays of objects without dimensions gives the object alone.
    values = np.asarray(values & (wide - 1), values.dtype)
    values = np.where(values > high, np.asarray(values - wide, values.dtype), values)
    if _is_wide(values) and high <= _HIGH:
        values = values.astype(np.int64)
    return Values(values, low, high, *operand[3:])


def _hull(left: Values, right: Values) -> tuple[int, int]:
    return min(left.low, right.low), max(left.high, right.high)


_FLOORDIV = _divided(lambda a, b: a // b, _quotient_bounds)
_FLOORMOD = _divided(lambda a, b: a % b, _remainder_bounds)

_OPERATIONS: Mapping[str, _Operation] = {
    "+": _exact(lambda a, b: a + b, lambda a, b: (a.low + b.low, a.high + b.high)),
    "-": _exact(lambda a, b: a - b, lambda a, b: (a.low - b.high, a.high - b.low)),
    "*": _exact(lambda a, b: a * b, _product_bounds),
    "min": _exact(np.minimum, _hull),
    "max": _exact(np.maximum, _hull),
    "//": _FLOORDIV,
    "%": _FLOORMOD,
    "truncdiv": _truncated(_truncdiv, _FLOORDIV, _quotient_bounds),
    "truncmod": _truncated(_truncmod, _FLOORMOD, _remainder_bounds),
    "<<": _shifted(left_shift=True),
    ">>": _shifted(left_shift=False),
    "&": _bitwise(np.bitwise_and),
    "|": _bitwise(np.bitwise_or),
    "^": _bitwise(np.bitwise_xor),
    "<": _compared(np.less),
    "<=": _compared(np.less_equal),
    ">": _compared(np.greater),
    ">=": _compared(np.greater_equal),
    "==": _compared(np.equal),
    "!=": _compared(np.not_equal),
    "and": _logical(np.logical_and, decides=False),
    "or": _logical(np.logical_or, decides=True),
    "not": _negated,
    "select": _chosen,
    "if_then_else": _chosen,
    "cast": _cast,
}
