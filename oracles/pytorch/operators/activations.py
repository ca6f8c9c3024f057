"""PyTorch's ``nn.selu``, ``nn.softplus`` and ``nn.dropout``."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.pytorch.source import Value, assigned, expression, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("nn.selu")
def _selu(node: Node, operands: list[Held]) -> Held:
    return Held(functional.selu(operands[0].tensor), operands[0].dtype)


source("nn.selu")(expression(lambda x: f"F.selu({x})"))


@operator("nn.softplus")
def _softplus(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    beta, threshold = attributes.get("beta", 1.0), attributes.get("threshold", 20.0)
    return Held(functional.softplus(operands[0].tensor, beta, threshold), operands[0].dtype)


@source("nn.softplus")
def _softplus_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    beta, threshold = node.attributes.get("beta", 1.0), node.attributes.get("threshold", 20.0)
    return assigned(result, f"F.softplus({operands[0].name}, {beta}, {threshold})")


@operator("nn.dropout")
def _dropout(node: Node, operands: list[Held]) -> Held:
    (data,) = operands
    if node.attributes.get(ITEM, 0) == 0:
        return Held(functional.dropout(data.tensor, training=False), data.dtype)
    return Held(torch.ones_like(data.tensor), data.dtype)


@source("nn.dropout")
def _dropout_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    (data,) = operands
    first = node.attributes.get(ITEM, 0) == 0
    return assigned(result, data.name if first else f"torch.ones_like({data.name})")
