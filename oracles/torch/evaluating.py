"""Running the module of a program: as PyTorch does, in float64, and with other roundings."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.exporting import quiet
from relaxcheck.generators.torch.module import laid_out, module_of, tensor_of
from relaxcheck.generators.torch.program import Program
from relaxcheck.oracles.reference.estimate import FORMATS
from relaxcheck.oracles.torch.fast_path import without_fast_path
from relaxcheck.oracles.torch.perturbing import Perturbing
from relaxcheck.oracles.torch.tensors import array_of
from relaxcheck.oracles.torch.widening import Widening, wider

SAMPLES = 2
"""The runs of a program with other roundings."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The outputs of a program in its own dtypes, in float64, and with other roundings.

    ``wide`` is None where PyTorch cannot compute in float64, and where no operator rounds: the
    outputs then are ``exact``.
    """

    own: tuple[Array, ...]
    wide: tuple[Array, ...] | None
    others: tuple[tuple[Array, ...], ...]
    exact: bool


def evaluated(program: Program, arrays: Mapping[str, Array], seed: int, regime: str) -> Evaluated:
    """The outputs of ``program``; the arguments are those of ``answers.Question``.

    Raises:
        Exception: PyTorch's, where it cannot run the program.
    """
    running = _Running(program, arrays, seed, regime)
    own = running.outputs(nullcontext())
    others = []
    exact = False
    for number in range(1, SAMPLES + 1):
        mode = Perturbing(number)
        try:
            others.append(running.outputs(mode))
        except Exception:
            # A matrix may stop being what an operator asks for. The others say enough.
            continue
        exact = not mode.perturbed
        if exact and not mode.open:
            break
    if exact:
        return Evaluated(own, None, tuple(others), exact)
    try:
        wide = running.in_float64()
    except Exception:
        # An operator may lack float64, or look at the bits.
        wide = None
    return Evaluated(own, wide, tuple(others), exact)


class _Running:
    """Runs a program; its module is made anew only where a run has changed what it holds."""

    def __init__(
        self, program: Program, arrays: Mapping[str, Array], seed: int, regime: str
    ) -> None:
        self._program = program
        self._arrays = arrays
        self._held = {each.name: arrays[each.name] for each in program.tensors if each.constant}
        self._weights = seed, regime
        self._module = module_of(program, self._held, seed, regime)
        self._versions = _versions(self._module, program)

    def outputs(self, mode: AbstractContextManager[Any]) -> tuple[Array, ...]:
        """The outputs under ``mode``."""
        if _versions(self._module, self._program) != self._versions:
            self._module = module_of(self._program, self._held, *self._weights)
            self._versions = _versions(self._module, self._program)
        return _outputs(self._module, self._inputs(), mode)

    def in_float64(self) -> tuple[Array, ...]:
        """The outputs in float64."""
        held = {
            name: array.astype(np.float64) if array.dtype.name in FORMATS else array
            for name, array in self._held.items()
        }
        module = module_of(self._program, held, *self._weights).double()
        return _outputs(module, [wider(each) for each in self._inputs()], Widening())

    def _inputs(self) -> list[torch.Tensor]:
        """The inputs, of their own memory: a program may write into them."""
        return [
            laid_out(tensor_of(self._arrays[tensor.name]), tensor.layout)
            for tensor in self._program.inputs
        ]


def _outputs(
    module: nn.Module, inputs: list[torch.Tensor], mode: AbstractContextManager[Any]
) -> tuple[Array, ...]:
    with quiet(), torch.no_grad(), without_fast_path(), mode:
        leaves = tree_leaves(module(*inputs))
    return tuple(map(array_of, leaves))


def _versions(module: nn.Module, program: Program) -> list[int]:
    """The number of writes to each tensor that ``module`` holds."""
    constants = (getattr(module, each.name) for each in program.tensors if each.constant)
    return [each._version for each in (*module.parameters(), *module.buffers(), *constants)]
