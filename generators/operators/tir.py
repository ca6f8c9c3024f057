"""Calls of functions of TIR."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.called.tir_functions import CALL_TIR, FUNCTIONS
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.operand import Fits, at_least
from relaxcheck.generators.core.points import text
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator

_SUM, _CIRCULAR, _TRANSPOSED = "row_sum", "backwards", "turned"


def _fits(shape: Sequence[Dim], function: str) -> bool:
    # A sum is initialised in its first iteration: without iterations, it never is. TIR makes no
    # function with a remainder by a size that is the number 0.
    nonempty = {_SUM: -1, _CIRCULAR: 0}
    return function not in nonempty or at_least(shape[nonempty[function]], 1)


def _call_tir(draft: Draft, value: Value, point: Point) -> None:
    function = text(point, "function")
    shape = {_TRANSPOSED: value.shape[::-1], _SUM: value.shape[:-1]}.get(function, value.shape)
    if function == _SUM:
        draft.require(value.shape[-1], 1)
    if function == _CIRCULAR:
        draft.require(value.shape[0], 1)
    draft.call(
        CALL_TIR,
        [value],
        shape,
        function=function,
        of=shape_value(value.shape),
        shape=shape_value(shape),
        dtype=value.dtype,
    )


OPERATORS = (
    Operator(
        CALL_TIR,
        meaning="A function of TIR on one tensor: its elements negated, its axes or its first axis "
        "reversed, or the sums of its rows.",
        source="docstring of relax.call_tir; the functions mean operators of Relax",
        operands=(Operand("args", ranks=(2, 1, 3, 4)),),
        attributes=(
            Attribute("function", "text"),
            Attribute("of", "shape"),
            Attribute("shape", "shape"),
            Attribute("dtype", "dtype"),
        ),
        axes=(Axis("function", tuple(FUNCTIONS), "opposite", Fits(_fits)),),
        apply=_call_tir,
        numerics=Numerics.ACCUMULATES,
        form="tir",
    ),
)
