"""The dotted paths of PyTorch's functions."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from relaxcheck.generators.torch import targets

SPACES = {
    "torch": torch,
    "torch.nn.functional": torch.nn.functional,
    "torch.special": torch.special,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
    "torch.Tensor": torch.Tensor,
}

GETTERS = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH"}
"""Properties of tensors that are tensors, with the function of ATen that each calls."""


class Unnamed(ValueError):
    """A function that no program may name."""


@cache
def _paths() -> dict[int, str]:
    known: dict[int, str] = {}
    for space, module in SPACES.items():
        for name in dir(module):
            path = f"{space}.{name}"
            try:
                function = targets.function(path)
            except targets.UnknownTarget:
                continue
            known.setdefault(id(function), path)
    return known


def path_of(function: Callable[..., Any]) -> str:
    """The path of ``function``.

    Raises:
        Unnamed: a program may not name it.
    """
    if isinstance(function, torch._ops.OpOverload):
        path = f"torch.ops.{function}"
    elif getattr(function, "__name__", "") == "__get__":
        path = f"torch.ops.aten.{GETTERS.get(function.__self__.__name__, '')}.default"
    else:
        path = _paths().get(id(function), "")
    try:
        targets.function(path)
    except targets.UnknownTarget:
        name = torch.overrides.resolve_name(function) or getattr(function, "__name__", "")
        raise Unnamed(f"a program may not name {name}") from None
    return path
