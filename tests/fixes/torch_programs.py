"""Functions of PyTorch, exported, imported, compiled and run, against PyTorch itself."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import tvm
from numpy.typing import NDArray
from torch import nn
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck import fixes
from relaxcheck.fixes.frontends.torch.probing import outputs_of
from relaxcheck.harness.native.link import linked
from relaxcheck.harness.native.memory import USUAL, filled
from tests.torch_exports import hasten

TORCH = tuple(fix for fix in fixes.ALL if fix.name.startswith("torch_"))
"""The importer's fixes: PyTorch makes of one function calls of several others."""

hasten()

Array = NDArray[Any]
Inputs = Sequence[torch.Tensor]

_TOLERANCES = {"float16": 4e-3, "float64": 1e-9}
_TARGET = tvm.target.Target({"kind": "llvm", "opt-level": 0})


class Model(nn.Module):
    """A module that computes ``function``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        """The results of the function."""
        return self.function(*inputs)


def exported(function: Callable[..., Any], inputs: Inputs, dynamic: Sequence[Any] = ()) -> Any:
    """The program of ``function``; ``dynamic`` are the axes of each input that are symbolic."""
    auto = torch.export.Dim.AUTO
    shapes = tuple(dict.fromkeys(axes, auto) for axes in dynamic) if dynamic else ()
    model = function if isinstance(function, nn.Module) else Model(function)
    nested = (shapes,) if isinstance(model, Model) else shapes
    with torch.no_grad():
        return torch.export.export(
            model, tuple(inputs), dynamic_shapes=nested if dynamic else None, strict=False
        )


def check(
    function: Callable[..., Any],
    *inputs: torch.Tensor,
    dynamic: Sequence[Any] = (),
    again: Sequence[Inputs] = (),
    decomposed: Sequence[bool] = (True, False),
) -> None:
    """Compare what TVM computes of ``function`` with PyTorch, for ``inputs``, then for ``again``.

    The program is imported with ``decomposed`` into core functions of ATen, and without.
    """
    program = exported(function, inputs, dynamic)
    for run in decomposed:
        module = from_exported_program(program, run_ep_decomposition=run)
        executable = linked(relax.build(module, _TARGET))
        for each in (inputs, *again):
            # Elements that nothing writes are not to be the zeros that fresh memory often has.
            with filled(USUAL):
                actual = outputs_of(executable, [tensor.numpy() for tensor in each])
            with torch.no_grad():
                _agree(actual, function(*each))


def _agree(actual: Sequence[Array], expected: Any) -> None:
    leaves = torch.utils._pytree.tree_leaves(expected)
    assert len(actual) == len(leaves)
    for result, tensor in zip(actual, leaves, strict=True):
        wanted = tensor.numpy()
        assert result.dtype == wanted.dtype
        assert result.shape == wanted.shape
        tolerance = _TOLERANCES.get(str(wanted.dtype), 1e-5)
        np.testing.assert_allclose(
            result.astype(np.float64), wanted.astype(np.float64), tolerance, tolerance
        )


def programs(
    function: Callable[..., Any], *inputs: Any, **symbolic: Any
) -> tuple[Callable[[], None], ...]:
    """A run that raises where TVM does not compute ``function``, not decomposed."""
    return (functools.partial(check, function, *inputs, decomposed=(False,), **symbolic),)


def floats(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Numbers of about unit size, the same in each run; none is 0."""
    count = int(np.prod(shape))
    values = np.sin(np.arange(1, count + 1) * 12.9898) * 1.7
    return torch.from_numpy(values).reshape(shape).to(dtype)


def integers(*shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """Integers from -4 to 4, the same in each run."""
    values = (np.arange(int(np.prod(shape))) * 5 + 3) % 9 - 4
    return torch.from_numpy(values).reshape(shape).to(dtype)
