"""PyTorch's triangles and identities."""

from collections.abc import Sequence
from typing import Any

import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import FLOATS, Held, operator


def _declare_triangle(name: str, triangle: Any) -> None:
    @operator(name)
    def evaluate(node: Node, operands: list[Held]) -> Held:
        return Held(triangle(operands[0].tensor, node.attributes.get("k", 0)), operands[0].dtype)

    @source(name)
    def text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
        k = node.attributes.get("k", 0)
        return assigned(result, f"torch.{name}({operands[0].name}{f', {k}' if k else ''})")


_declare_triangle("tril", torch.tril)
_declare_triangle("triu", torch.triu)


def _identity(shape: Sequence[int], k: Any, dtype: str) -> Held:
    ones = torch.ones(tuple(shape), dtype=FLOATS.get(dtype, torch.int64))
    return Held(ones.triu(k).tril(k), dtype)


@operator("eye")
def _eye(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    n, m = attributes["n"], attributes.get("m")
    rows = n if isinstance(n, int) else n[0]
    columns = rows if m is None else m if isinstance(m, int) else m[0]
    dtype = attributes.get("dtype", "float32")
    return _identity((rows, columns), attributes.get("k", 0), dtype)


@operator("eye_like")
def _eye_like(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    (x,) = operands
    return _identity(x.tensor.shape, attributes.get("k", 0), attributes.get("dtype") or x.dtype)


def _identity_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    k: Any = node.attributes.get("k", 0)
    kind = "float64" if result.dtype in FLOATS else "int64"
    ones = f"torch.ones({result.shape}, dtype=torch.{kind})"
    return assigned(result, f"{ones}.triu({k}).tril({k})")


source("eye")(_identity_text)
source("eye_like")(_identity_text)
