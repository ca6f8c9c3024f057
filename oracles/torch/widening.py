"""Computing in float64 what PyTorch would compute in narrower floats."""

from collections.abc import Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

NARROW = (torch.float32, torch.float16, torch.bfloat16)
"""The real floats that are made wider."""

_WIDER: Mapping[torch.dtype, torch.dtype] = {
    torch.float32: torch.float64,
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}


class Widening(TorchDispatchMode):  # type: ignore[misc]
    """Computes in float64 what an operator would compute in, or convert to, narrower floats.

    A write into a narrower tensor would be lost. So what a program holds, and is passed, is made
    wider before it runs.
    """

    def __torch_dispatch__(
        self, operator: Any, types: Any, arguments: Any = (), keywords: Any = None
    ) -> Any:
        arguments, keywords = tree_map(wider, arguments), tree_map(wider, keywords or {})
        return tree_map(wider, operator(*arguments, **keywords))


def wider(value: Any) -> Any:
    """``value`` in float64, if it is a tensor, or a dtype, of narrower floats."""
    if isinstance(value, torch.dtype):
        return _WIDER.get(value, value)
    if isinstance(value, torch.Tensor) and value.dtype in _WIDER:
        return value.to(_WIDER[value.dtype])
    return value
