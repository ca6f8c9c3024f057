"""PyTorch's ``zeros_like``, ``ones_like`` and ``full_like``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import FLOATS, Held, operator, wrapped

_FILLED: dict[str, float | None] = {"zeros_like": 0, "ones_like": 1, "full_like": None}


def _declare(name: str, value: float | None) -> None:
    @operator(name)
    def evaluated(node: Node, operands: list[Held]) -> Held:
        number, dtype = _number(node, value), _dtype(node, operands[0].dtype)
        kind = FLOATS.get(dtype, torch.int64)
        return wrapped(torch.full_like(operands[0].tensor, number, dtype=kind), dtype)

    @source(name)
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        kind = "float64" if result.dtype in FLOATS else "int64"
        number = np.array(_number(node, value)).astype(numpy_dtype(result.dtype)).astype(kind)
        call = f"torch.full_like({operands[0].name}, {number.item()}, dtype=torch.{kind})"
        return assigned(result, call)


def _number(node: Node, value: float | None) -> Any:
    return node.attributes["fill_value"] if value is None else value


def _dtype(node: Node, default: str) -> str:
    return str(node.attributes.get("dtype") or default)


for _name, _value in _FILLED.items():
    _declare(_name, _value)
