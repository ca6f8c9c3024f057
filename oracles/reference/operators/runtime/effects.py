"""The reference's calls with an effect: each stands for its last operand."""

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluation import operator


@operator("print")
def _print(node: Node, operands: list[Estimate]) -> Estimate:
    return operands[-1]


@operator("assert_op")
def _assert_op(node: Node, operands: list[Estimate]) -> Estimate:
    condition = operands[0]
    if condition.dtype != "bool" or condition.value.ndim:
        raise ValueError(f"a condition of {condition.dtype}, rank {condition.value.ndim}")
    if not condition.value:
        raise ValueError("the condition is false")
    return operands[-1]
