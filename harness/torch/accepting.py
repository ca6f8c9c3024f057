"""The sizes that an exported program takes: PyTorch may have fixed some, and bounded others."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind


def accepts(program: ExportedProgram, shapes: Sequence[tuple[int, ...]]) -> bool:
    """True if ``program`` may be called on tensors of these ``shapes``."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    specs = program.graph_signature.input_specs
    user = [spec.arg.name for spec in specs if spec.kind is InputKind.USER_INPUT]
    sizes: dict[Any, int] = {}
    derived: list[tuple[Any, int]] = []
    for name, shape in zip(user, shapes, strict=True):
        value = nodes[name].meta.get("val")
        if not isinstance(value, torch.Tensor) or len(value.shape) != len(shape):
            return False
        for dim, size in zip(value.shape, shape, strict=True):
            if not isinstance(dim, torch.SymInt):
                if int(dim) != size:
                    return False
            elif dim.node.expr.is_Symbol:
                if sizes.setdefault(dim.node.expr, size) != size:
                    return False
            else:
                derived.append((dim.node.expr, size))
    if any(_value(expression, sizes) != size for expression, size in derived):
        return False
    return all(
        _within(_value(expression, sizes), limits)
        for expression, limits in program.range_constraints.items()
    )


def _value(expression: Any, sizes: dict[Any, int]) -> int | None:
    """The value of ``expression``; None if a symbol in it has none, as one that data decide."""
    value = expression.subs(sizes)
    return int(value) if value.is_Integer else None


def _within(value: int | None, limits: Any) -> bool:
    return value is None or bool(limits.lower <= value <= limits.upper)
