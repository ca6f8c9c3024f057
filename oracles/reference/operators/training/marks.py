"""The reference's marks, which compute nothing."""

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluation import operator


def _same(node: Node, operands: list[Estimate]) -> Estimate:
    return operands[0]


for _name in ("no_grad", "start_checkpoint", "end_checkpoint"):
    operator(f"grad.{_name}")(_same)
