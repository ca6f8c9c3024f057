"""Exports a model for both importers, and computes what it should return, in files.

The files do not depend on the release of TVM. Nothing here imports TVM.
"""

import hashlib
import importlib.util
import logging
import os
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import msgspec
import numpy as np
import torch
from torch import nn

from tests.zoo.float64 import in_float64
from tests.zoo.judging import THRESHOLD, Array, difference, worst
from tests.zoo.model import Model, made

CACHE = "RELAXCHECK_ZOO"
"""The variable that names the folder of exported models."""

PROGRAM, GRAPH, NOTE = "program.pt2", "model.onnx", "note.json"

_EXPORTERS = ("torch", "onnx", "onnxscript", "transformers", "timm")
_FORMAT = 2
"""Raise it where the files are written otherwise, or modules are made otherwise."""
_OPSET = 20
"""The version of ONNX's operators that models are written with."""


class Note(msgspec.Struct, frozen=True):
    """The state of an exported model; empty messages where nothing failed.

    ``specialised``: names of dimensions that vary but that the export made constant. ``onnx``
    says how ONNX Runtime's results differ from PyTorch's. ``runs``: how many data files there are.
    """

    torch_error: str = ""
    onnx_error: str = ""
    onnx_differs: str = ""
    specialised: tuple[str, ...] = ()
    parameters: int = 0
    nodes: int = 0
    runs: int = 0


@cache
def warm() -> None:
    """Import what the exporters import late, so that forked processes need not."""
    warnings.filterwarnings("ignore")
    program = torch.export.export(nn.Linear(2, 2), (torch.zeros(1, 2),))
    with tempfile.TemporaryDirectory() as where:
        torch.export.save(program, Path(where) / PROGRAM)
        torch.export.load(Path(where) / PROGRAM)
        program.run_decompositions()
        if importlib.util.find_spec("onnxscript") is not None:
            torch.onnx.export(program, (), dynamo=True, verbose=False)


def folder() -> Path:
    """The folder of exported models."""
    chosen = os.environ.get(CACHE)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(cache) / "relaxcheck" / "zoo"


def place(model: Model, *, dynamic: bool) -> Path:
    """The folder of ``model``; another one where the model or a package of an exporter changes."""
    parts = [model.digest(), str(_FORMAT)]
    for package in _EXPORTERS:
        try:
            parts.append(metadata.version(package))
        except metadata.PackageNotFoundError:
            parts.append("")
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
    return folder() / f"{model.name}-{'dynamic' if dynamic else 'static'}-{key}"


def note(where: Path) -> Note | None:
    """The note in the folder ``where`` of an exported model; None if it was not exported yet."""
    path = where / NOTE
    return msgspec.json.decode(path.read_bytes(), type=Note) if path.is_file() else None


def data(where: Path, run: int) -> dict[str, list[Array]]:
    """The ``inputs``, ``eager`` results and ``exact`` results of a run of an exported model."""
    with np.load(where / f"run-{run}.npz") as stored:
        names = sorted(stored.files, key=lambda name: int(name.partition("-")[2]))
        return {
            kind: [stored[name] for name in names if name.startswith(kind)]
            for kind in ("inputs", "eager", "exact")
        }


def exported(model: Model, where: Path, *, dynamic: bool) -> Iterator[Note]:
    """Write ``model`` into the folder ``where``, and yield its note."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    where.mkdir(parents=True, exist_ok=True)
    module = made(model)
    bindings = model.bindings(dynamic=dynamic)
    inputs = [model.drawn(binding, seed) for seed, binding in enumerate(bindings)]
    eager = [_called(module, each) for each in inputs]
    parameters = sum(each.numel() for each in module.parameters())
    result = Note(parameters=parameters, runs=len(inputs))
    with torch.no_grad():
        result, program = _export(model, module, inputs[0], where, result, dynamic=dynamic)
        if program is not None:
            result = _export_onnx(program, where, result)
    exact = [in_float64(module, each) for each in inputs]
    for run, of_run in enumerate(zip(inputs, eager, exact, strict=True)):
        kinds = zip(("inputs", "eager", "exact"), of_run, strict=True)
        np.savez(
            where / f"run-{run}.npz",
            **{
                f"{kind}-{number}": tensor.numpy()
                for kind, tensors in kinds
                for number, tensor in enumerate(tensors)
            },
        )
    if program is not None and not result.onnx_error:
        result = msgspec.structs.replace(result, onnx_differs=_runtime_differs(where, result.runs))
    (where / NOTE).write_bytes(msgspec.json.encode(result))
    yield result


def _called(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    with torch.no_grad():
        return tuple(tensor.clone() for tensor in module(*inputs))


def _export(
    model: Model,
    module: nn.Module,
    inputs: tuple[torch.Tensor, ...],
    where: Path,
    result: Note,
    *,
    dynamic: bool,
) -> tuple[Note, torch.export.ExportedProgram | None]:
    shapes = (_dynamic_shapes(model),) if dynamic else None
    try:
        program = torch.export.export(module, inputs, dynamic_shapes=shapes, strict=False)
        torch.export.save(program, where / PROGRAM)
    except Exception as error:
        return msgspec.structs.replace(result, torch_error=_text(error)), None
    nodes = sum(node.op == "call_function" for node in program.graph.nodes)
    lost = _specialised(model, program) if dynamic else ()
    return msgspec.structs.replace(result, nodes=nodes, specialised=lost), program


def _dynamic_shapes(model: Model) -> tuple[dict[int, object], ...]:
    """The dimensions that vary, for each input. Those of one name are found equal by the export."""
    return tuple(
        {
            axis: torch.export.Dim.AUTO
            for axis, extent in enumerate(each.shape)
            if extent in model.varying
        }
        for each in model.inputs
    )


def _specialised(model: Model, program: torch.export.ExportedProgram) -> tuple[str, ...]:
    names = set()
    by_user = [node for node in program.graph.nodes if node.op == "placeholder"]
    by_user = [n for n in by_user if n.name in program.graph_signature.user_inputs]
    for node, each in zip(by_user, model.inputs, strict=True):
        for size, extent in zip(node.meta["val"].shape, each.shape, strict=True):
            if extent in model.varying and _is_number(size):
                names.add(str(extent))
    return tuple(sorted(names))


def _is_number(size: int | torch.SymInt) -> bool:
    """True if the export made a size constant, be it as a symbolic integer."""
    return not isinstance(size, torch.SymInt) or bool(size.node.expr.is_number)


def _export_onnx(program: torch.export.ExportedProgram, where: Path, result: Note) -> Note:
    try:
        written = torch.onnx.export(
            program, (), dynamo=True, opset_version=_OPSET, optimize=True, verbose=False
        )
        written.save(where / GRAPH)
    except Exception as error:
        return msgspec.structs.replace(result, onnx_error=_text(error))
    return result


def _runtime_differs(where: Path, runs: int) -> str:
    """How ONNX Runtime's results of the exported graph differ from PyTorch's; "" if they do not."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            where / GRAPH, options, providers=["CPUExecutionProvider"]
        )
        for run in range(runs):
            stored = data(where, run)
            names = [each.name for each in session.get_inputs()]
            results = session.run(None, dict(zip(names, stored["inputs"], strict=True)))
            if worst(results, stored["eager"], stored["exact"]) > THRESHOLD:
                return difference(results, stored["eager"])
    except Exception as error:
        return _text(error)
    return ""


def _text(error: Exception) -> str:
    # The exporters wrap what they say in advice.
    first: BaseException = error
    while first.__cause__ is not None:
        first = first.__cause__
    lines = [line.strip() for line in str(first).splitlines() if line.strip()]
    return f"{type(first).__name__}: {' '.join(lines)}"[:300]
