"""Arrays of PyTorch's tensors."""

import ml_dtypes
import numpy as np
import torch

from relaxcheck.generators.core.values import Array


def array_of(value: "torch.Tensor | int | float | bool") -> Array:
    """A copy of ``value`` as an array; a number is one without dimensions, int64 or float64."""
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    held = value.detach().resolve_conj().resolve_neg().contiguous()
    if held.dtype is torch.bfloat16:
        narrow: Array = held.view(torch.int16).numpy().view(ml_dtypes.bfloat16).copy()
        return narrow
    array: Array = held.numpy().copy()
    return array
