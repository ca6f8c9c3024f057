"""Run a piece of a PyTorch program by PyTorch and by TVM, and compare: as its script does."""

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.models.compiling import Way, compiled, run
from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.faults import left, raised
from relaxcheck.harness.models.frontends import torch as frontend
from relaxcheck.harness.models.imported import ImportFault
from relaxcheck.harness.models.pieces.calls import TOLERANCE, TorchPiece
from relaxcheck.harness.outcomes.outcome import Verdict

IMPORT = "import"
"""The stage of TVM's importer."""


def fault_of_piece(piece: TorchPiece, way: Way, progress: Callable[[str], None]) -> Fault | None:
    """The fault of TVM on ``piece`` in the ``way``; None if it is right.

    Raises:
        Exception: PyTorch refuses the piece.
    """
    values = piece.values()
    tensors = tuple(torch.from_numpy(np.array(each)) for each in values)
    module = as_module(piece)
    with torch.no_grad():
        expected = [each.numpy() for each in module(*tensors)]
        exported = torch.export.export(module, tensors, dynamic_shapes=dynamic_shapes(piece))
    progress(IMPORT)
    try:
        imported = frontend.imported(exported).imported.module
    except ImportFault as fault:
        return raised(IMPORT, fault.__cause__ or fault)
    try:
        main = compiled(imported, way, progress)
        progress("run")
        actual = run(main, [np.asarray(each) for each in values])
    except SilentBail as bail:
        return left(bail)
    except StageError as error:
        return raised(error.stage, error.cause)
    return difference(piece.outputs, actual, expected)


def difference(
    names: Sequence[str], actual: Sequence[Array], expected: Sequence[Array]
) -> Fault | None:
    """The first output that is not as ``expected``, as a fault."""
    for name, own, wanted in zip(names, actual, expected, strict=True):
        if own.shape != wanted.shape:
            message = f"{name}: shape {own.shape}, not {wanted.shape}"
            return Fault(Verdict.WRONG_SHAPE, "run", message, "shape")
        if own.dtype != wanted.dtype:
            message = f"{name}: dtype {own.dtype}, not {wanted.dtype}"
            return Fault(Verdict.WRONG_DTYPE, "run", message, "dtype")
        if not close(own, wanted):
            message = f"{name}: {_first(own)} for {_first(wanted)}"
            return Fault(Verdict.WRONG_VALUE, "run", message, "value")
    return None


def close(actual: Array, expected: Array) -> bool:
    """True if two arrays of one shape and dtype are as near as correct programs are."""
    if expected.dtype.kind in "iub":
        return bool(np.array_equal(actual, expected))
    wide = expected.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    scale = float(np.abs(finite).max(initial=0.0))
    limit = TOLERANCE * float(ml_dtypes.finfo(expected.dtype).eps) * scale
    return bool(np.allclose(actual.astype(np.float64), wide, 0, limit, equal_nan=True))


def _first(array: Array) -> str:
    """The beginning of an array as text."""
    head = ", ".join(f"{each:.6g}" for each in array.ravel()[:4])
    return f"[{head}{', …' if array.size > 4 else ''}]"


def as_module(piece: TorchPiece) -> torch.nn.Module:
    """The module whose ``forward`` makes the calls of ``piece``."""
    names = ", ".join(each.name for each in piece.inputs)
    body = [*piece.calls, f"return ({', '.join(piece.outputs)},)"]
    lines = ["import math", "import operator", f"def forward(self, {names}):"]
    namespace: dict[str, Any] = {"torch": torch}
    # The same text as in the script; it is made of the nodes of a graph, which are literals.
    exec("\n".join((*lines, *(f"    {line}" for line in body))), namespace)
    return type("Piece", (torch.nn.Module,), {"forward": namespace["forward"]})()


def dynamic_shapes(piece: TorchPiece) -> dict[str, Any] | None:
    """The argument ``dynamic_shapes`` of ``torch.export.export``; None if all is static."""
    symbols = {name for each in piece.inputs for name in each.symbols.values()}
    if not symbols:
        return None
    by_name = {name: torch.export.Dim(name) for name in sorted(symbols)}
    return {
        each.name: {axis: by_name[name] for axis, name in each.symbols.items()}
        for each in piece.inputs
    }
