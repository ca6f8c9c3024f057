"""Calls of packed functions that have no side effects."""

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.called.meanings import DPS_PACKED, PURE_PACKED
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.points import text
from relaxcheck.generators.operators.calls.functions import (
    FUNCTION,
    SIGNED,
    arguments,
    call,
    function_axis,
)
from relaxcheck.generators.operators.record import (
    FLOATS,
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
)

_FUNCTIONS = (
    *("turned", "opposite", "row_sum", "difference", "opposite_and_sum", "sum_and_opposite"),
    *("spread", "clipped", "at_most"),
)


def _calling(operator: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        call(draft, operator, arguments(draft, value, point), text(point, FUNCTION))

    return apply


def _record(operator: str, how: str) -> Operator:
    return Operator(
        operator,
        meaning=f"A packed function {how}: of one tensor the elements negated, between two "
        "numbers or at most a size that the call passes, the axes reversed, sums of rows, or "
        "copies in a shape that the call passes; of two the difference; both elements negated and "
        "sums of rows, as a tuple.",
        source=f"docstring of relax.op.{operator}; the functions mean operators of Relax",
        operands=(
            Operand(
                "args",
                ranks=(2, 0, 1, 3, 4),
                dtypes=(*FLOATS, *SIGNED, "uint8", "bool"),
                many=True,
            ),
        ),
        attributes=(
            Attribute("function", "text"),
            Attribute("of", "shape"),
            Attribute("dtype", "dtype"),
            Attribute("lead", "shape", None),
            Attribute("extent", "shape", None),
            Attribute("low", "int", None),
            Attribute("high", "int", None),
        ),
        axes=(function_axis(*_FUNCTIONS),),
        apply=_calling(operator),
        numerics=Numerics.ACCUMULATES,
        form="packed",
        alone=True,
    )


OPERATORS = (
    _record(DPS_PACKED, "that writes its results into tensors that the caller allocates"),
    _record(PURE_PACKED, "that returns its results"),
)
