"""PyTorch's samples from distributions."""

from collections.abc import Sequence

import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import Held, operator, wrapped


@operator("multinomial_from_uniform")
def _sampled(node: Node, operands: list[Held]) -> Held:
    prob, sample, rows = (each.tensor for each in operands)
    sums = prob.cumsum(1)[rows[:, 0]].double()
    places = torch.searchsorted(sums, sample.double(), right=True)
    return wrapped(places, str(node.attributes.get("dtype", "int64")))


@source("multinomial_from_uniform")
def _sampled_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    prob, sample, rows = (each.name for each in operands)
    sums = f"{prob}.cumsum(1)[{rows}[:, 0]]"
    return assigned(result, f"torch.searchsorted({sums}, {sample}, right=True)")
