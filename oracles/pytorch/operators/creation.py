"""PyTorch's operators that make a tensor of a shape, or of a number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import FLOATS, Held, operator


@operator("shape_of")
def _shape_of(node: Node, operands: list[Held]) -> Held:
    return Held(torch.tensor(operands[0].tensor.shape, dtype=torch.int64), "int64")


@operator("shape_to_tensor")
def _shape_to_tensor(node: Node, operands: list[Held]) -> Held:
    return operands[0]


@operator("zeros")
def _zeros(node: Node, operands: list[Held]) -> Held:
    return _filled(node, 0)


@operator("ones")
def _ones(node: Node, operands: list[Held]) -> Held:
    return _filled(node, 1)


@operator("full")
def _full(node: Node, operands: list[Held]) -> Held:
    return _filled(node, node.attributes["fill_value"])


def _filled(node: Node, value: Any) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    dtype = attributes["dtype"]
    if dtype in FLOATS:
        return Held(torch.full(attributes["shape"], value, dtype=FLOATS[dtype]), dtype)
    whole = np.full(attributes["shape"], value).astype(numpy_dtype(dtype)).astype(np.int64)
    return Held(torch.from_numpy(whole), dtype)


def _declare_filled(name: str, value: float | None) -> None:
    @source(name)
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        number = node.attributes["fill_value"] if value is None else value
        held = np.array(number).astype(numpy_dtype(result.dtype))
        kind = "float64" if result.dtype in FLOATS else "int64"
        call = f"torch.full({result.shape}, {held.astype(kind).item()}, dtype=torch.{kind})"
        return assigned(result, call)


_declare_filled("zeros", 0)
_declare_filled("ones", 1)
_declare_filled("full", None)
