"""Roundings to whole numbers, the sign and the square."""

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.operators.choices import INTEGERS
from relaxcheck.generators.operators.record import FLOATS, Apply, Numerics, Operand, Operator

_RANKS = (2, 0, 1, 3, 4)


def _call(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        draft.call(name, [value], value.shape)

    return apply


def _record(name: str, meaning: str, numerics: Numerics = Numerics.ROUNDS) -> Operator:
    return Operator(
        name,
        meaning=meaning,
        source=f"docstring of relax.op.{name}; IEEE 754-2019, 5.9",
        operands=(Operand("x", ranks=_RANKS, dtypes=(*FLOATS, *INTEGERS)),),
        apply=_call(name),
        numerics=numerics,
    )


OPERATORS = (
    _record("ceil", "The least whole number that is not below x."),
    _record("floor", "The largest whole number that is not above x."),
    _record("round", "The whole number next to x, the even one of two."),
    _record("sign", "-1 below 0, 0 of a zero, 1 above 0."),
    _record("square", "x * x; integers wrap around."),
    _record("trunc", "The whole number next to x on its way to 0."),
)
