"""Runs of programs by eager PyTorch."""

import re
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from relaxcheck.generators.core import values
from relaxcheck.generators.torch.case import Exporting, TorchCase
from relaxcheck.generators.torch.exporting import exported
from relaxcheck.generators.torch.module import laid_out, module_of, tensor_of
from relaxcheck.generators.torch.program import Program

Results = list[torch.Tensor]


def run(
    program: Program,
    regime: str = "normal",
    seed: int = 0,
    watch: AbstractContextManager[Any] | None = None,
    binding: Mapping[str, int] | None = None,
) -> Results:
    """The outputs of ``program``, whose symbols have the sizes ``binding``, by eager PyTorch.

    ``watch`` is entered meanwhile.

    Raises:
        Exception: PyTorch's.
    """
    case = TorchCase("torch-sample", program, (dict(binding or {}),), regime=regime, seed=seed)
    arrays = values.arrays(case, 0)
    held = {tensor.name: arrays[tensor.name] for tensor in program.tensors if tensor.constant}
    module = module_of(program, held, seed, regime)
    inputs = [laid_out(tensor_of(arrays[t.name]), t.layout) for t in program.inputs]
    with warnings.catch_warnings(), torch.no_grad(), watch or nullcontext():
        warnings.simplefilter("ignore")
        return [leaf for leaf in tree_leaves(module(*inputs)) if isinstance(leaf, torch.Tensor)]


def runs(program: Program, regime: str = "normal", seed: int = 0) -> Results | None:
    """The outputs of ``program``; None where PyTorch refuses it, or gives what no case takes."""
    try:
        results = run(program, regime, seed)
    except Exception:
        return None
    return None if any(each.is_complex() for each in results) else results


class _Random(TorchDispatchMode):
    """Notes that an operator draws numbers, in ``drawn``."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = False

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.drawn |= torch.Tag.nondeterministic_seeded in function.tags
        return function(*args, **(kwargs or {}))


def is_random(program: Program) -> bool:
    """True if ``program``, which eager PyTorch runs, draws random numbers as it is called."""
    mode = _Random()
    run(program, watch=mode)
    return mode.drawn


def refusal_of_export(
    program: Program, how: Exporting, binding: Mapping[str, int] | None = None
) -> str:
    """The first line of the error by which ``torch.export`` refuses ``program``; "" without."""
    case = TorchCase("torch-sample", program, (dict(binding or {}),))
    arrays = values.arrays(case, 0)
    held = {tensor.name: arrays[tensor.name] for tensor in program.tensors if tensor.constant}
    try:
        module = module_of(program, held, 0, "normal")
        exported(module, program, arrays, how)
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        # The order of a set changes from run to run.
        text = re.sub(r"\{[^}]*\}", "{…}", lines[0] if lines else "")
        return f"{type(error).__name__}: {text}"[:120]
    return ""


def alike(one: Results, other: Results) -> bool:
    """True if both results have the same shapes and dtypes, and close values."""
    return len(one) == len(other) and all(
        first.dtype == second.dtype and first.shape == second.shape and _close(first, second)
        for first, second in zip(one, other, strict=True)
    )


def _close(one: torch.Tensor, other: torch.Tensor) -> bool:
    wide: Any = torch.float64 if one.is_floating_point() else torch.int64
    return torch.allclose(one.to(wide), other.to(wide), 1e-3, 1e-4, equal_nan=True)


def odd(results: Results) -> float:
    """The share of elements that are not finite."""
    floats = [each for each in results if each.is_floating_point() and each.numel()]
    if not floats:
        return 0.0
    return max(1 - each.isfinite().double().mean().item() for each in floats)
