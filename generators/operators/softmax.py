"""Softmax and its logarithm."""

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.points import integer
from relaxcheck.generators.operators.choices import axis_choice
from relaxcheck.generators.operators.record import Apply, Attribute, Numerics, Operand, Operator


def _along_one_axis(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        draft.call(name, [value], value.shape, axis=integer(point, "axis"))

    return apply


def _record(name: str, meaning: str) -> Operator:
    return Operator(
        name,
        meaning=meaning,
        source="docstrings of relax.op.nn.softmax and log_softmax; torch.softmax",
        operands=(Operand("data", ranks=(1, 2, 3, 4)),),
        attributes=(Attribute("axis", "axis", -1),),
        axes=(axis_choice(),),
        apply=_along_one_axis(name),
        numerics=Numerics.APPROXIMATES,
    )


OPERATORS = (
    _record("nn.softmax", "exp(x) divided by its sum along one axis."),
    _record("nn.log_softmax", "x minus the logarithm of the sum of exp(x) along one axis."),
)
