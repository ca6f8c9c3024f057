"""A model's results in float64, also where it converts to float32 itself."""

from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map


class _Widening(TorchDispatchMode):
    """Computes in float64 what an operator would compute in, or convert to, float32."""

    def __torch_dispatch__(
        self, operator: Any, types: Any, arguments: Any = (), keywords: Any = None
    ) -> Any:
        arguments = tree_map(_wider, arguments)
        keywords = tree_map(_wider, keywords or {})
        return tree_map(_wider, operator(*arguments, **keywords))


def _wider(value: Any) -> Any:
    if value is torch.float32:
        return torch.float64
    if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
        return value.double()
    return value


def in_float64(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """The results of ``module``, which becomes float64, on ``inputs``."""
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), _Widening():
            return tuple(module.double()(*map(_wider, inputs)))
    finally:
        torch.set_default_dtype(usual)
