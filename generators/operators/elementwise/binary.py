"""Arithmetic of two operands that broadcast, element by element."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.faults import Fault
from relaxcheck.generators.core.fills.kinds import Positive
from relaxcheck.generators.core.points import text, toggle
from relaxcheck.generators.operators.choices import INTEGERS, decimal
from relaxcheck.generators.operators.elementwise.partners import SWAPPED, partner, partner_axes
from relaxcheck.generators.operators.faults import PLAIN, argument_dtype, argument_grown
from relaxcheck.generators.operators.record import (
    FLOATS,
    Apply,
    Numerics,
    Operand,
    Operator,
)

_RANKS = (2, 0, 1, 3, 4)


def _call(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        other, shape = partner(draft, value, point)
        draft.call(name, [other, value] if point["swapped"] else [value, other], shape)

    return apply


def _divide(draft: Draft, value: Value, point: Point) -> None:
    other, shape = partner(draft, value, point)
    dividend, divisor = (other, value) if point["swapped"] else (value, other)
    draft.call("divide", [dividend, draft.positive(divisor, 1.0)], shape)


def _whole(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        if point["divisor"] == "alike":
            divisor = draft.operand(value.shape, value.dtype, fill=Positive(1.0))
        else:
            (number,) = decimal(point, "divisor").values()
            assert isinstance(number, int)
            divisor = draft.scalar(number, value.dtype)
        draft.call(name, [value, divisor], value.shape)

    return apply


def _power(draft: Draft, value: Value, point: Point) -> None:
    exponent = text(point, "exponent")
    if exponent in ("2", "3"):
        draft.call("power", [value, draft.scalar(int(exponent), value.dtype)], value.shape)
        return
    base = draft.positive(value, 0.5)
    other = (
        draft.operand(value.shape, value.dtype)
        if exponent == "alike"
        else draft.scalar(float(exponent), value.dtype)
    )
    draft.call("power", [base, other], value.shape)


_ALIKE: Point = {"rank": 2, "other": "alike", "other_constant": False, "swapped": False}


def _faults(name: str) -> tuple[Fault, ...]:
    return (
        argument_grown(name, 1, pinned=_ALIKE),
        argument_dtype(name, 1, "int32", pinned={**PLAIN, **_ALIKE}),
    )


def _record(
    name: str,
    meaning: str,
    dtypes: tuple[str, ...] = (*FLOATS, *INTEGERS),
    numerics: Numerics = Numerics.ROUNDS,
) -> Operator:
    wrapping = "; integers wrap around" if len(dtypes) > len(FLOATS) else ""
    return Operator(
        name,
        meaning=f"{meaning} Operands broadcast as NumPy's do{wrapping}.",
        source=f"docstring of relax.op.{name}; MEANINGS.md, Elementwise",
        operands=(
            Operand("x1", ranks=_RANKS, dtypes=dtypes),
            Operand("x2", ranks=_RANKS, dtypes=dtypes),
        ),
        axes=(*partner_axes(), SWAPPED),
        apply=_call(name),
        numerics=numerics,
        faults=_faults(name),
        elementary=numerics is Numerics.APPROXIMATES,
    )


_WHOLE = ("int32", "int64", "int8")


def _division(
    name: str,
    meaning: str,
    source: str,
    dtypes: tuple[str, ...] = _WHOLE,
    *,
    elementary: bool = False,
) -> Operator:
    divisors = ("2", "3", "-2", "1", "alike")
    return Operator(
        name,
        meaning=meaning,
        source=source,
        operands=(
            Operand("x1", ranks=_RANKS, dtypes=dtypes),
            Operand("x2", ranks=_RANKS, dtypes=dtypes),
        ),
        axes=(Axis("divisor", divisors, "2"),),
        apply=_whole(name),
        numerics=Numerics.ROUNDS,
        faults=(argument_grown(name, 1, pinned={"rank": 2, "divisor": "alike"}),),
        requires="a divisor other than 0",
        elementary=elementary,
    )


_FLOORED = "TIR's floordiv and floormod; Python's // and %"

OPERATORS = (
    _record("add", "x1 + x2."),
    _record("subtract", "x1 - x2."),
    _record("multiply", "x1 * x2."),
    _record("maximum", "The larger of x1 and x2."),
    _record("minimum", "The smaller of x1 and x2."),
    Operator(
        "divide",
        meaning="x1 / x2. Operands broadcast as NumPy's do.",
        source="docstring of relax.op.divide; MEANINGS.md, Elementwise",
        operands=(Operand("x1", ranks=_RANKS), Operand("x2", ranks=_RANKS)),
        axes=(*partner_axes(), toggle("swapped")),
        apply=_divide,
        numerics=Numerics.ROUNDS,
        faults=_faults("divide"),
        requires="a divisor other than 0",
    ),
    Operator(
        "power",
        meaning="x1 to the power x2: real powers, of a negative base by a whole exponent only.",
        source="docstring of relax.op.power; MEANINGS.md, Elementwise",
        operands=(Operand("x1", ranks=_RANKS), Operand("x2", ranks=_RANKS)),
        axes=(Axis("exponent", ("2", "3", "0.5", "-1", "alike"), "2"),),
        apply=_power,
        numerics=Numerics.APPROXIMATES,
        faults=(argument_grown("power", 1, pinned={"rank": 2, "exponent": "alike"}),),
        requires="a base above 0 where the exponent is no whole number",
        elementary=True,
    ),
    _division("floor_divide", "The quotient, rounded towards negative infinity.", _FLOORED),
    _division("floor_mod", "The remainder, of the divisor's sign.", _FLOORED),
    _division(
        "mod",
        "The remainder, of the dividend's sign.",
        "C's fmod and %; torch.fmod; ONNX Mod with fmod=1",
        (*FLOATS, *_WHOLE),
        elementary=True,
    ),
    _record(
        "atan2",
        "The angle of the point (x2, x1), from -pi to pi.",
        FLOATS,
        Numerics.APPROXIMATES,
    ),
    _record("log_add_exp", "log(exp(x1) + exp(x2)).", FLOATS, Numerics.APPROXIMATES),
)
