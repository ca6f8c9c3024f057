"""PyTorch's marks, which compute nothing."""

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import expression, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


def _same(node: Node, operands: list[Held]) -> Held:
    return operands[0]


for _name in ("no_grad", "start_checkpoint", "end_checkpoint"):
    operator(f"grad.{_name}")(_same)
    source(f"grad.{_name}")(expression(lambda x: x))
