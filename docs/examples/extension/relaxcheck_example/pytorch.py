"""The operator in PyTorch, and as text for scripts."""

from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import expression, source
from relaxcheck.oracles.pytorch.tensors import Held


def softsign(node: Node, operands: list[Held]) -> Held:
    """PyTorch's own function."""
    return Held(functional.softsign(operands[0].tensor), operands[0].dtype)


source("example.softsign")(expression(lambda x: f"F.softsign({x})"))
