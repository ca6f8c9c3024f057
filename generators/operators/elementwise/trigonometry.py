"""Circular and hyperbolic functions, their inverses, and the error function."""

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.operators.faults import argument_dtype
from relaxcheck.generators.operators.record import Apply, Numerics, Operand, Operator

_RANKS = (2, 0, 1, 3, 4)


def _call(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        draft.call(name, [value], value.shape)

    return apply


def _clipped(name: str) -> Apply:
    """An input of a family may lie outside the domain; in a graph NaN would hide what follows."""

    def apply(draft: Draft, value: Value, point: Point) -> None:
        if any(node.name == value.name for node in draft.nodes):
            value = draft.call("clip", [value], value.shape, min=-1, max=1)
        draft.call(name, [value], value.shape)

    return apply


def _from_one(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        draft.call(name, [draft.positive(value, 1.0)], value.shape)

    return apply


def _record(name: str, meaning: str, apply: Apply | None = None, requires: str = "") -> Operator:
    return Operator(
        name,
        meaning=meaning,
        source=f"docstring of relax.op.{name}; IEEE 754-2019, 9.2",
        operands=(Operand("x", ranks=_RANKS),),
        apply=apply or _call(name),
        numerics=Numerics.APPROXIMATES,
        faults=(argument_dtype(name, 0, "int32"),),
        requires=requires,
        elementary=True,
    )


_NAN = "NaN outside [-1, 1]."

OPERATORS = (
    _record("acos", f"The angle whose cosine is x; {_NAN}", _clipped("acos")),
    _record("acosh", "The inverse of cosh, from 1 on.", _from_one("acosh"), "elements from 1 on"),
    _record("asin", f"The angle whose sine is x; {_NAN}", _clipped("asin")),
    _record("asinh", "The inverse of sinh."),
    _record("atan", "The angle whose tangent is x."),
    _record("atanh", f"The inverse of tanh, infinite at its ends; {_NAN}", _clipped("atanh")),
    _record("cos", "The cosine of x, an angle in radians."),
    _record("cosh", "(exp(x) + exp(-x)) / 2."),
    _record("erf", "The error function of x: 2 / sqrt(pi) times the integral of exp(-t²) to x."),
    _record("sin", "The sine of x, an angle in radians."),
    _record("sinh", "(exp(x) - exp(-x)) / 2."),
    _record("tan", "The tangent of x, an angle in radians."),
)
