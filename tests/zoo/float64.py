"""A model's results in float64, also where it converts to float32 itself."""

import torch
from torch import nn

from relaxcheck.oracles.torch.widening import Widening, wider


def in_float64(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """The results of ``module``, which becomes float64, on ``inputs``."""
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), Widening():
            return tuple(module.double()(*map(wider, inputs)))
    finally:
        torch.set_default_dtype(usual)
