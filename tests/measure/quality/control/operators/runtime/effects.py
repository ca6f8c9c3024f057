"""Calls with an effect, each of which stands for its last operand."""

from collections.abc import Sequence

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import Array, Type, operator, refuse
from tests.measure.quality.control.summation import Freedom


@operator("print", lambda node, operands: operands[-1])
def _print(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return operands[-1]


def _infer_assertion(node: Node, operands: Sequence[Type]) -> Type:
    condition, *_ = operands
    if condition.rank or condition.dtype != "bool":
        raise refuse(node, f"{condition.dtype} of rank {condition.rank} is no condition")
    return operands[-1]


@operator("assert_op", _infer_assertion)
def _assert_op(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    if not operands[0]:
        raise refuse(node, "the condition is false")
    return operands[-1]
