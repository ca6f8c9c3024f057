"""PyTorch's ranges, windows, and ones at indices."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import FLOATS, Held, operator


def _ends(node: Node) -> list[Any]:
    """Start, end and step as far as they are given."""
    values = (node.attributes.get(name) for name in ("start", "end", "step"))
    return [each[0] if isinstance(each, tuple) else each for each in values if each is not None]


def _range_dtype(node: Node) -> str:
    whole = all(isinstance(each, int) for each in _ends(node))
    return str(node.attributes.get("dtype") or ("int64" if whole else "float32"))


@operator("arange")
def _arange(node: Node, operands: list[Held]) -> Held:
    dtype = _range_dtype(node)
    return Held(torch.arange(*_ends(node), dtype=FLOATS.get(dtype, torch.int64)), dtype)


@source("arange")
def _arange_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    kind = "float64" if result.dtype in FLOATS else "int64"
    ends = ", ".join(map(str, _ends(node)))
    return assigned(result, f"torch.arange({ends}, dtype=torch.{kind})")


@operator("hamming_window")
def _hamming_window(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    dtype = attributes["dtype"]
    arguments = (attributes[name] for name in ("window_size", "periodic", "alpha", "beta"))
    return Held(torch.hamming_window(*arguments, dtype=FLOATS[dtype]), dtype)


@source("hamming_window")
def _hamming_window_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    names = ("window_size", "periodic", "alpha", "beta")
    arguments = ", ".join(str(node.attributes[name]) for name in names)
    return assigned(result, f"torch.hamming_window({arguments}, dtype=torch.float64)")


@operator("one_hot")
def _one_hot(node: Node, operands: list[Held]) -> Held:
    attributes: dict[str, Any] = dict(node.attributes)
    hot = functional.one_hot(operands[0].tensor, attributes["depth"])
    moved = hot.movedim(-1, attributes.get("axis", -1))
    on, off = attributes["on_value"], attributes["off_value"]
    dtype = "float64" if isinstance(on, float) else "int64"
    values = torch.tensor([off, on], dtype=FLOATS.get(dtype, torch.int64))
    return Held(values[moved], dtype)


@source("one_hot")
def _one_hot_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    attributes: dict[str, Any] = dict(node.attributes)
    on, off = attributes["on_value"], attributes["off_value"]
    hot = f"F.one_hot({operands[0].name}, {attributes['depth']})"
    turned = f"{hot}.movedim(-1, {attributes.get('axis', -1)})"
    kind = "float64" if isinstance(on, float) else "int64"
    return assigned(result, f"torch.tensor([{off}, {on}], dtype=torch.{kind})[{turned}]")
