"""PyTorch's calls with an effect: each stands for its last operand."""

from collections.abc import Sequence

import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


@operator("print")
def _print(node: Node, operands: list[Held]) -> Held:
    return operands[-1]


@operator("assert_op")
def _assert_op(node: Node, operands: list[Held]) -> Held:
    torch._assert(bool(operands[0].tensor), str(node.attributes.get("format", "")))
    return operands[-1]


def _last_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return assigned(result, operands[-1].name)


source("print")(_last_text)
source("assert_op")(_last_text)
