"""Calls of functions of TIR that have a gradient of their own."""

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.called.meanings import WITH_GRAD
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.points import text
from relaxcheck.generators.operators.calls.functions import (
    FUNCTION,
    SIGNED,
    arguments,
    call,
    function_axis,
)
from relaxcheck.generators.operators.record import FLOATS, Attribute, Numerics, Operand, Operator


def _call_tir_with_grad(draft: Draft, value: Value, point: Point) -> None:
    call(
        draft,
        WITH_GRAD,
        arguments(draft, value, point),
        text(point, FUNCTION),
        te_grad_name="test.gradient",
    )


OPERATORS = (
    Operator(
        WITH_GRAD,
        meaning="A function of TIR, as call_tir calls it; the name of its gradient, which the pass "
        "Gradient alone reads, changes nothing: of one tensor the elements negated or at most a "
        "size that the call passes, the axes reversed, or sums of rows; of two the difference; "
        "both elements negated and sums of rows, as a tuple.",
        source="docstring of relax.op.call_tir_with_grad; the functions mean operators of Relax",
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
            Attribute("te_grad_name", "text"),
            Attribute("extent", "shape", None),
        ),
        axes=(
            function_axis(
                "turned", "opposite", "row_sum", "difference", "opposite_and_sum", "at_most"
            ),
        ),
        apply=_call_tir_with_grad,
        numerics=Numerics.ACCUMULATES,
        form="tir",
        alone=True,
    ),
)
