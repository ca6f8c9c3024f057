"""Tensors as the PyTorch oracle holds them, and the form of its operators."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.limitations import limiting
from relaxcheck.oracles.registry import declare

FLOATS = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float8_e4m3fn": torch.float8_e4m3fn,
    "float8_e5m2": torch.float8_e5m2,
    "float32": torch.float32,
    "float64": torch.float64,
}
"""The dtypes that tensors are held in themselves."""

FOREIGN = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
"""Those that NumPy lacks."""


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor and TVM's name of its dtype; integers and booleans are held in int64."""

    tensor: Tensor
    dtype: str


Operator = Callable[[Node, list[Held]], Held]

OPERATORS: dict[str, Operator] = {}
"""PyTorch's operators by Relax name; modules of ``operators`` declare them."""

operator = declare(OPERATORS)
"""Declare the function that evaluates an operator."""

limit = limiting("pytorch")
"""Declare a limitation: operator, condition, reason."""


def cast(held: Held, dtype: str) -> Held:
    """``held`` cast to ``dtype``. Raises ``ValueError`` from floating point to an integer."""
    if dtype in FLOATS:
        return Held(held.tensor.to(FLOATS[dtype]), dtype)
    if held.dtype in FLOATS:
        raise ValueError(f"a cast from {held.dtype} to {dtype} is not defined here")
    return wrapped(held.tensor, dtype)


def wrapped(tensor: Tensor, dtype: str) -> Held:
    """``tensor`` in ``dtype``; integers wrap around to it."""
    if dtype in FLOATS or dtype == "int64":
        return Held(tensor, dtype)
    narrow = tensor.numpy().astype(numpy_dtype(dtype)).astype(np.int64)
    return Held(torch.from_numpy(narrow), dtype)
