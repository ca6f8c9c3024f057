"""PyTorch's views of bytes."""

from collections.abc import Sequence
from math import prod
from typing import Any

import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.pytorch.source import Value, assigned, expression, source
from relaxcheck.oracles.pytorch.tensors import FLOATS, Held, operator


def _bounds(node: Node, shape: Sequence[int], dtype: str) -> tuple[int, int]:
    """The first byte of the view, of ``shape`` and ``dtype``, and the byte behind it."""
    begin: Any = node.attributes.get("relative_byte_offset") or 0
    first = int(begin[0] if isinstance(begin, tuple) else begin)
    return first, first + prod(shape) * numpy_dtype(dtype).itemsize


@operator("memory.view")
def _view(node: Node, operands: list[Held]) -> Held:
    (x,), attributes = operands, dict[str, Any](node.attributes)
    dtype = attributes.get("dtype") or x.dtype
    shape = attributes.get("shape")
    shape = x.tensor.shape if shape is None else shape
    first, end = _bounds(node, shape, dtype)
    # PyTorch views only what lies densely, and begins where its elements may lie.
    flat = torch.empty(x.tensor.numel(), dtype=getattr(torch, x.dtype))
    raw = flat.copy_(x.tensor.reshape(-1)).view(torch.uint8)
    # A slice would count a negative offset from the end: PyTorch itself refuses this one.
    part = torch.as_strided(raw, (end - first,), (1,), first).clone()
    seen = part.view(getattr(torch, dtype)).reshape(shape)
    return Held(seen if dtype in FLOATS else seen.to(torch.int64), dtype)


@source("memory.view")
def _view_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    (x,) = operands
    first, end = _bounds(node, result.shape, result.dtype)
    old, new = numpy_dtype(x.dtype).itemsize, numpy_dtype(result.dtype).itemsize
    wide = "double" if result.dtype in FLOATS else "long"
    if result.dtype == x.dtype and first % old == 0:
        part = f"[{first // old}:{end // new}]" if end < prod(x.shape) * old or first else ""
        return assigned(result, f"{x.name}.reshape(-1){part}.reshape({result.shape})")
    raw = f"{x.name}.to(torch.{x.dtype}).reshape(-1).view(torch.uint8)[{first}:{end}].clone()"
    seen = f"{raw}.view(torch.{result.dtype}).reshape({result.shape}).{wide}()"
    return assigned(result, seen)


@operator("memory.ensure_zero_offset")
def _ensure_zero_offset(node: Node, operands: list[Held]) -> Held:
    return operands[0]


source("memory.ensure_zero_offset")(expression(str))
