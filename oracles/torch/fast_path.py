"""PyTorch's fast path of layers of attention, which eager PyTorch is asked without.

In inference these layers call fused kernels, where ``torch.export`` keeps what their Python code
writes out. The kernels take a mask of numbers for one of truth values, and give NaN for a query all
of whose keys a mask hides, so that the module differs from the program that is exported of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from relaxcheck.generators.torch.program import Program

OFF = "torch.backends.mha.set_fastpath_enabled(False)"
"""The statement that has layers do without it."""

_LAYERS = ("torch.nn.MultiheadAttention", "torch.nn.Transformer")
"""The beginnings of names of layers that have one."""


def has_fast_path(program: Program) -> bool:
    """True if a layer of ``program`` has a fast path."""
    return any(layer.kind.startswith(_LAYERS) for layer in program.layers.values())


@contextmanager
def without_fast_path() -> Iterator[None]:
    """Have layers compute what their Python code writes out."""
    enabled = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)
