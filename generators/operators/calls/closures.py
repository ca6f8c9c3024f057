"""Closures over tensors: functions of the program with their last arguments bound."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.points import Given, integer, text, toggle
from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.generators.operators.calls.functions import SIGNED
from relaxcheck.generators.operators.record import (
    FLOATS,
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
)

_PURE, _IMPURE = "invoke_pure_closure", "invoke_closure"

_NAME = "inner"


def _function(shape: Sequence[Dim], dtype: str, captured: int, turned: bool) -> Program:
    """The difference of an argument and a captured tensor, or the larger of that and another one.

    Twice the argument, where nothing is captured. Of booleans it is a disjunction, an exclusive one
    first.
    """
    names = ("x", *(f"c{at}" for at in range(captured)))
    inputs = tuple(Input(name, tuple(shape), dtype) for name in names)
    first = "bitwise_xor" if dtype == "bool" else "subtract" if captured else "add"
    operators = (first, "bitwise_or" if dtype == "bool" else "maximum")
    nodes: list[Node] = []
    last = "x"
    for at, other in enumerate(names[1:] or names):
        nodes.append(Node(f"d{at}", operators[at], (last, other)))
        last = f"d{at}"
    if turned:
        nodes.append(Node("t", "permute_dims", (last,)))
        last = "t"
    return Program(inputs, tuple(nodes), (last,))


def _invoking(operator: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        captured, turned = integer(point, "captured"), bool(point["turned"])
        constant = bool(point["constant"])
        draft.functions[_NAME] = _function(value.shape, value.dtype, captured, turned)
        bound = [
            draft.operand(value.shape, value.dtype, constant=constant) for _ in range(captured)
        ]
        shape = value.shape[::-1] if turned else value.shape
        own = sorted({name for dim in value.shape for name in symbols(dim)})
        result = value
        for _ in range(2 if text(point, "invoked") == "twice" else 1):
            result = draft.call(
                operator,
                [result, *bound],
                shape,
                function=_NAME,
                captured=captured,
                sizes=shape_value(own),
                shape=shape_value(shape),
                dtype=value.dtype,
            )

    return apply


def _record(operator: str, how: str, *also: str) -> Operator:
    return Operator(
        operator,
        meaning="A function of Relax whose last arguments are bound when make_closure makes a "
        f"closure of it, {how}: the difference of its argument and a bound tensor, or the larger "
        "of that and another one, in the shape of the argument or with its axes reversed.",
        source=f"docstrings of relax.op.make_closure and relax.op.{operator}; vm.builtin."
        "make_closure, which binds the last arguments; LambdaLift, which emits both",
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
            Attribute("captured", "int"),
            Attribute("sizes", "shape"),
            Attribute("shape", "shape"),
            Attribute("dtype", "dtype"),
        ),
        axes=(
            Axis("captured", (1, 0, 2), 1),
            toggle("constant", Given(("captured",), lambda captured, _: captured > 0)),
            toggle("turned", Given(("rank",), lambda rank, _: rank > 0)),
            Axis(
                "invoked",
                ("once", "twice"),
                "once",
                Given(("turned",), lambda turned, invoked: invoked == "once" or not turned),
            ),
        ),
        apply=_invoking(operator),
        numerics=Numerics.ROUNDS,
        form="closure",
        pure=operator == _PURE,
        also=also,
        alone=True,
    )


OPERATORS = (
    _record(_PURE, "called without side effects", "make_closure"),
    _record(_IMPURE, "called with what may have side effects, so that nothing may move past it"),
)
