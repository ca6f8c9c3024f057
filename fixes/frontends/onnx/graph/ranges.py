"""Places of an axis between a start and an end, either of which may be symbolic."""

from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.tvm_api import shapes

UPSTREAM = NewFile("relax/frontend/onnx/ranges.py")


def length_of(start: Any, end: Any, step: Any) -> Any:
    """The number of places from ``start`` before ``end``; an expression if it is symbolic.

    ``step`` is not 0; None if its sign is not known.
    """
    if not isinstance(step, int) or step == 0:
        return None
    distance = (end - start) if step > 0 else (start - end)
    if isinstance(distance, int):
        return max(0, -(-distance // abs(step)))
    count = tvm_api.floordiv(distance + (abs(step) - 1), abs(step))
    return at_least(known.number_of(count), 0)


def at_least(value: Any, least: Any) -> Any:
    """The larger of the two, without a comparison where the analyzer knows it."""
    if isinstance(value, int) and isinstance(least, int):
        return max(value, least)
    first, second = known.dim_of(value), known.dim_of(least)
    order = _order(first, second)
    if order is None:
        return known.number_of(tvm_api.larger(first, second))
    return least if order else value


def at_most(value: Any, most: Any) -> Any:
    """The smaller of the two, without a comparison where the analyzer knows it."""
    if isinstance(value, int) and isinstance(most, int):
        return min(value, most)
    first, second = known.dim_of(value), known.dim_of(most)
    order = _order(first, second)
    if order is None:
        return known.number_of(tvm_api.smaller(first, second))
    return value if order else most


def _order(first: Any, second: Any) -> bool | None:
    """True if ``first`` is at most ``second``, False if it is at least that; None if unknown."""
    analyzer = shapes.sizes_analyzer([first, second])
    if analyzer.can_prove(first <= second):
        return True
    return False if analyzer.can_prove(first >= second) else None
