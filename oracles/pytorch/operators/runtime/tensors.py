"""PyTorch's own fields of a tensor; codes by its dtype's properties."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.source import Value, assigned, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


def _own(held: Held) -> torch.dtype:
    """PyTorch's dtype of that name; integers are held in another."""
    dtype: torch.dtype = getattr(torch, held.dtype)
    return dtype


def _code(held: Held) -> int:
    dtype = _own(held)
    if dtype == torch.bool:
        return 6
    if dtype.is_floating_point:
        return 4 if dtype == torch.bfloat16 else 2
    return 0 if dtype.is_signed else 1


def _axis(node: Node) -> int:
    axis: Any = node.attributes["axis"]
    return int(axis)


_FIELDS: dict[str, Callable[[Node, Held], int]] = {
    "dtype_code": lambda node, held: _code(held),
    "dtype_bits": lambda node, held: 8 * torch.empty(0, dtype=_own(held)).element_size(),
    "dtype_lanes": lambda node, held: 1,
    "ndim": lambda node, held: held.tensor.dim(),
    "byte_offset": lambda node, held: held.tensor.storage_offset() * held.tensor.element_size(),
    "elem_offset": lambda node, held: held.tensor.storage_offset(),
    "shape_i": lambda node, held: held.tensor.size(_axis(node)),
    "stride_i": lambda node, held: torch.empty(held.tensor.shape).stride(_axis(node)),
}


def _declare(name: str, field: Callable[[Node, Held], int]) -> None:
    @operator(f"inspect.tensor_{name}")
    def evaluate(node: Node, operands: list[Held]) -> Held:
        return Held(torch.tensor(field(node, operands[0])), "int64")


for _name, _field in _FIELDS.items():
    _declare(_name, _field)


@source("inspect.tensor_ndim")
def _ndim_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return assigned(result, f"torch.tensor({operands[0].name}.dim())")


@source("inspect.tensor_shape_i")
def _shape_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    return assigned(result, f"torch.tensor({operands[0].name}.size({_axis(node)}))")
