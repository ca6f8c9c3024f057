"""Marks that the pass Gradient reads: each gives its operand as it is."""

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.operators.record import Apply, Numerics, Operand, Operator
from relaxcheck.generators.operators.shape import DTYPES

_MEANINGS = {
    "grad.no_grad": "The operand, through which Gradient lets no gradient pass.",
    "grad.start_checkpoint": "The operand, at which a stage begins that Gradient computes again.",
    "grad.end_checkpoint": "The operand, at which a stage ends that Gradient computes again.",
}


def _marked(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        draft.call(name, [value], value.shape)

    return apply


OPERATORS = tuple(
    Operator(
        name,
        meaning=meaning,
        source=f"docstring of relax.op.{name}",
        operands=(Operand("input", ranks=(2, 0, 1, 3, 4), dtypes=DTYPES),),
        apply=_marked(name),
        numerics=Numerics.COPIES,
        requires="" if name == "grad.no_grad" else "an operand that is a variable, no constant",
    )
    for name, meaning in _MEANINGS.items()
)
