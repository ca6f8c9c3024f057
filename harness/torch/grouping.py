"""Exporting several programs at once: one module that holds those of all, exported, and split.

``torch.export``, and the decomposition behind it above all, take far longer to begin than to go on:
sixteen programs take about twice the time of one. No program of a group uses a value of another,
so that each comes out as it does alone, but for the numbers in names.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram

from relaxcheck.generators.core.values import arrays, constants
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.exporting import decomposed, dynamic_shapes, exported, quiet
from relaxcheck.generators.torch.module import laid_out, module_of, tensor_of
from relaxcheck.harness.torch.splitting import Part, split

_MOST_LINES = 3


class NotExported(Exception):
    """PyTorch does not export the program; the message has its reason."""


def export_alone(case: TorchCase) -> ExportedProgram:
    """The program of ``case``, exported with the inputs of its first binding.

    Raises:
        NotExported: PyTorch cannot make the module, or refuses to export it.
    """
    try:
        return exported(_module(case), case.program, arrays(case, 0), case.exporting)
    except Exception as error:
        raise NotExported(_reason(error)) from error


def export_together(
    cases: Sequence[TorchCase], progress: Callable[[int | None], None] = lambda number: None
) -> list[ExportedProgram | NotExported]:
    """The program of each of ``cases``, which have the same settings of export, exported.

    Where a group fails, its halves are tried, and in the end each alone. ``progress`` gets the
    number of a case before it is exported alone, None before several are.
    """
    return _exported(cases, 0, progress)


def _exported(
    cases: Sequence[TorchCase], first: int, progress: Callable[[int | None], None]
) -> list[ExportedProgram | NotExported]:
    """As ``export_together``; ``first`` is the number of the first of ``cases``."""
    progress(first if len(cases) == 1 else None)
    if len(cases) == 1:
        return [_alone(cases[0])]
    try:
        return list(_group(cases))
    except Exception:
        # PyTorch's error is of one program: exported alone, it says what it is about.
        half = len(cases) // 2
        rest = _exported(cases[half:], first + half, progress)
        return [*_exported(cases[:half], first, progress), *rest]


def _alone(case: TorchCase) -> ExportedProgram | NotExported:
    try:
        return export_alone(case)
    except NotExported as refusal:
        return refusal


def _group(cases: Sequence[TorchCase]) -> list[ExportedProgram]:
    how = cases[0].exporting
    inputs = [_inputs(case) for case in cases]
    shapes = [
        dynamic_shapes(case.program.inputs, how, f"of{number}_") or (None,) * len(row)
        for number, (case, row) in enumerate(zip(cases, inputs, strict=True))
    ]
    dynamic = any(each is not None for row in shapes for each in row)
    with quiet():
        made = torch.export.export(
            _Group(list(map(_module, cases))),
            (inputs,),
            dynamic_shapes=(shapes,) if dynamic else None,
            strict=how.strict,
        )
        made = decomposed(made) if how.decomposed else made
    parts = [
        Part(row, len(case.program.outputs), case.program.tuple_of_one)
        for case, row in zip(cases, inputs, strict=True)
    ]
    return split(made, parts, _Group.PREFIX)


class _Group(nn.Module):  # type: ignore[misc]
    """The modules of several programs; its inputs are a list of each one's."""

    PREFIX = "parts"

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        super().__init__()
        self.training = False
        self.parts = nn.ModuleList(modules)
        self.parts.training = False

    def forward(self, inputs: Sequence[tuple[torch.Tensor, ...]]) -> Any:
        """The outputs of each module for its own inputs."""
        return [part(*own) for part, own in zip(self.parts, inputs, strict=True)]


def _module(case: TorchCase) -> nn.Module:
    return module_of(case.program, constants(case), case.seed, case.regime)


def _inputs(case: TorchCase) -> tuple[torch.Tensor, ...]:
    values = arrays(case, 0)
    return tuple(
        laid_out(tensor_of(values[tensor.name]), tensor.layout) for tensor in case.program.inputs
    )


def _reason(error: Exception) -> str:
    """The first lines of PyTorch's message: a trace of its own may follow."""
    lines = [line for line in f"{type(error).__name__}: {error}".splitlines() if line.strip()]
    return "\n".join(lines[:_MOST_LINES])
