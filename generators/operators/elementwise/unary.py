"""Functions of one operand, element by element."""

from collections.abc import Callable
from functools import partial

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.operators.choices import INTEGERS, decimal
from relaxcheck.generators.operators.record import (
    FLOATS,
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
)

_RANKS = (2, 0, 1, 3, 4)


def _call(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        draft.call(name, [value], value.shape)

    return apply


def _of_positive(name: str, least: float) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        draft.call(name, [draft.positive(value, least)], value.shape)

    return apply


def _record(
    name: str,
    meaning: str,
    numerics: Numerics,
    dtypes: tuple[str, ...] = FLOATS,
    least: float | None = None,
    operand: str = "x",
) -> Operator:
    return Operator(
        name,
        meaning=meaning,
        source=f"docstring of relax.op.{name}; MEANINGS.md, Elementwise",
        operands=(Operand(operand, ranks=_RANKS, dtypes=dtypes),),
        apply=_call(name) if least is None else _of_positive(name, least),
        numerics=numerics,
        requires="" if least is None else "elements above 0",
        elementary=numerics is Numerics.APPROXIMATES or name == "sqrt",
    )


_activation = partial(_record, operand="data")


def _with_numbers(name: str, read: Callable[[Point], dict[str, program.Attribute]]) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        draft.call(name, [value], value.shape, **read(point))

    return apply


_ANY = (*FLOATS, *INTEGERS)

OPERATORS = (
    _record("negative", "-x; integers wrap around.", Numerics.ROUNDS, _ANY),
    _record("abs", "The magnitude of x.", Numerics.ROUNDS, _ANY),
    _record("exp", "e to the power x.", Numerics.APPROXIMATES),
    _record("log", "The natural logarithm of x.", Numerics.APPROXIMATES, least=0.5),
    _record("sqrt", "The square root of x.", Numerics.ROUNDS, least=0.0),
    _record("rsqrt", "1 / sqrt(x).", Numerics.APPROXIMATES, least=0.5),
    _record("sigmoid", "1 / (1 + exp(-x)).", Numerics.APPROXIMATES),
    _record("tanh", "The hyperbolic tangent of x.", Numerics.APPROXIMATES),
    _activation(
        "nn.relu", "The larger of data and 0.", Numerics.ROUNDS, (*FLOATS, "int32", "int8")
    ),
    _activation("nn.silu", "data * sigmoid(data).", Numerics.APPROXIMATES),
    _activation(
        "nn.gelu",
        "data times the standard normal distribution function of data, by the error function.",
        Numerics.APPROXIMATES,
    ),
    _activation(
        "nn.gelu_tanh",
        "nn.gelu by the approximation "
        "0.5 * data * (1 + tanh(sqrt(2 / pi) * (data + 0.044715 * data**3))).",
        Numerics.APPROXIMATES,
    ),
    Operator(
        "nn.leakyrelu",
        meaning="x where x is above 0, alpha * x elsewhere.",
        source="docstring of relax.op.nn.leakyrelu",
        operands=(Operand("data", ranks=_RANKS),),
        attributes=(Attribute("alpha", "float", 0.01),),
        axes=(Axis("alpha", (None, "0.25", "0", "1"), None),),
        apply=_with_numbers("nn.leakyrelu", lambda point: decimal(point, "alpha")),
        numerics=Numerics.ROUNDS,
    ),
    Operator(
        "clip",
        meaning="The larger of x and min, then the smaller of that and max.",
        source="docstring of relax.op.clip",
        operands=(Operand("x", ranks=_RANKS, dtypes=(*FLOATS, "int32")),),
        attributes=(Attribute("min", "float"), Attribute("max", "float")),
        axes=(
            Axis("min", ("-1", "0", "1"), "-1"),
            # The last one is an interval of a single number where min is 1.
            Axis("max", ("2", "6", "1"), "2"),
        ),
        apply=_with_numbers("clip", lambda point: decimal(point, "min") | decimal(point, "max")),
        numerics=Numerics.ROUNDS,
    ),
)
