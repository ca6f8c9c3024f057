"""Exporting a program by ``torch.export``."""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch._export import utils as torch_utils
from torch.export import Dim, ExportedProgram

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.case import AUTO, BOUNDED, Exporting
from relaxcheck.generators.torch.module import laid_out, tensor_of
from relaxcheck.generators.torch.program import Program, Tensor

LEAST, MOST = 1, 64
"""The bounds of a dimension that is declared with bounds."""


def exported(
    module: nn.Module, program: Program, examples: Mapping[str, Array], how: Exporting
) -> ExportedProgram:
    """``module``, that of ``program``, exported with the inputs ``examples``, by name.

    Raises:
        Exception: PyTorch's; it cannot export the module so.
    """
    arguments = tuple(
        laid_out(tensor_of(examples[tensor.name]), tensor.layout) for tensor in program.inputs
    )
    with quiet():
        shapes = dynamic_shapes(program.inputs, how)
        made = torch.export.export(
            module, arguments, dynamic_shapes=(shapes,) if shapes else None, strict=how.strict
        )
        return decomposed(made) if how.decomposed else made


def decomposed(program: ExportedProgram) -> ExportedProgram:
    """``program`` decomposed to core ATen.

    PyTorch looks up all composite operators anew for each of the namespaces that it knows, which is
    a third of the time that decomposing a small program takes: once has the same effect.
    """
    look_up = getattr(torch_utils, _LOOK_UP, None)
    if look_up is None:
        return program.run_decompositions()
    look_up()
    setattr(torch_utils, _LOOK_UP, lambda: None)
    try:
        return program.run_decompositions()
    finally:
        setattr(torch_utils, _LOOK_UP, look_up)


_LOOK_UP = "_materialize_cpp_cia_ops"
"""The function of PyTorch's that looks them up, in the releases that have it."""


@contextmanager
def quiet() -> Iterator[None]:
    """Let PyTorch warn of nothing, nor log what it warns of."""
    logger = logging.getLogger("torch")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def dynamic_shapes(
    inputs: Sequence[Tensor], how: Exporting, prefix: str = ""
) -> tuple[Any, ...] | None:
    """The dynamic dimensions of each of ``inputs``, as ``torch.export`` takes them; None without.

    A derived dimension is ``a * Dim(n) + b`` of one symbol; any other is left to PyTorch
    (``Dim.AUTO``). ``prefix`` begins the name of each dimension: those of one name are one.
    """
    if not any(dims.symbols(dim) for tensor in inputs for dim in tensor.shape):
        return None
    known: dict[str, Any] = {}
    return tuple(
        {
            axis: _dim(dim, how.dynamic, known, prefix)
            for axis, dim in enumerate(tensor.shape)
            if dims.symbols(dim)
        }
        or None
        for tensor in inputs
    )


def _dim(dim: dims.Dim, dynamic: str, known: dict[str, Any], prefix: str) -> Any:
    symbols = sorted(dims.symbols(dim))
    if dynamic == AUTO or len(symbols) != 1:
        return Dim.AUTO
    (name,) = symbols
    if name not in known:
        limits = {"min": LEAST, "max": MOST} if dynamic == BOUNDED else {}
        known[name] = Dim(prefix + name, **limits)
    first = dims.evaluate(dim, {name: 0})
    slope = dims.evaluate(dim, {name: 1}) - first
    if any(dims.evaluate(dim, {name: n}) != slope * n + first for n in (2, 3, 5, 8)):
        return Dim.AUTO
    made = known[name] if slope == 1 else slope * known[name]
    return made + first if first else made
