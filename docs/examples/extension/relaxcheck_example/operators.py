"""The record of an operator that is not TVM's. It is read where there is no TVM: import none."""

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.operators.record import Numerics, Operand, Operator


def _softsign(draft: Draft, value: Value, point: Point) -> None:
    draft.call("example.softsign", [value], value.shape)


SOFTSIGN = Operator(
    "example.softsign",
    meaning="x / (1 + |x|), element by element.",
    source="torch.nn.functional.softsign",
    operands=(Operand("data", ranks=(2, 0, 1, 3, 4)),),
    apply=_softsign,
    numerics=Numerics.ROUNDS,
)
