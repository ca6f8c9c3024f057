"""The sum of a product and a third operand, all of one shape."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import symbols
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import FitsDims
from relaxcheck.generators.core.points import text
from relaxcheck.generators.operators.choices import INTEGERS
from relaxcheck.generators.operators.faults import (
    PLAIN,
    argument_dtype,
    argument_grown,
    argument_rank,
)
from relaxcheck.generators.operators.record import FLOATS, Numerics, Operand, Operator

_NAME = "ewise_fma"
_RANKS = (2, 0, 1, 3, 4)
_DTYPES = (*FLOATS, *INTEGERS)


def _multiply_add(draft: Draft, value: Value, point: Point) -> None:
    others = text(point, "others")
    constant = others == "constant"
    factor, term = (
        value if others == "itself" else draft.operand(value.shape, value.dtype, constant=constant)
        for _ in range(2)
    )
    draft.call(_NAME, [value, factor, term], value.shape)


_ALIKE: Point = {**PLAIN, "rank": 2, "others": "alike"}

OPERATORS = (
    Operator(
        _NAME,
        meaning="x1 * x2 + x3, rounded once or twice; integers wrap around.",
        source="docstring of relax.op.ewise_fma; IEEE 754-2019, 5.4.1",
        operands=tuple(Operand(name, ranks=_RANKS, dtypes=_DTYPES) for name in ("x1", "x2", "x3")),
        axes=(
            Axis(
                "others",
                ("alike", "itself", "constant"),
                "alike",
                FitsDims(lambda shape, form: form != "constant" or not any(map(symbols, shape))),
            ),
        ),
        apply=_multiply_add,
        numerics=Numerics.ROUNDS,
        faults=(
            argument_grown(_NAME, 1, pinned=_ALIKE),
            argument_dtype(_NAME, 2, "int32", pinned=_ALIKE),
            argument_rank(_NAME, 2, pinned=_ALIKE),
        ),
    ),
)
