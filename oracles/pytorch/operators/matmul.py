"""PyTorch's matrix product."""

from collections.abc import Sequence

import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, cast_text, source
from relaxcheck.oracles.pytorch.tensors import Held, cast, operator, wrapped


@operator("matmul")
def _matmul(node: Node, operands: list[Held]) -> Held:
    dtype = node.attributes.get("out_dtype") or operands[0].dtype
    if not isinstance(dtype, str):
        raise ValueError(f"out_dtype {dtype!r} is not text")
    a, b = (cast(each, dtype).tensor for each in operands)
    return wrapped(torch.matmul(a, b), dtype)


@source("matmul")
def _matmul_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    dtype = str(node.attributes.get("out_dtype") or operands[0].dtype)
    a, b = (cast_text(each, dtype) for each in operands)
    return assigned(result, f"{a} @ {b}")
