"""Models as users name them: an ONNX file, an exported program, a function that makes one."""

import importlib
import inspect
import sys
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnx

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.models.frameworks.inputs import Input, Symbol
from relaxcheck.harness.models.imported import Imported, ImportFault
from relaxcheck.harness.models.values import Values


class ModelError(CaseError):
    """A model cannot be read, made, or run by its own framework; the message is one line."""


class Source(Protocol):
    """A model, and what its framework computes. ``differs``: the exporter's own fault, if any."""

    framework: str
    inputs: tuple[Input, ...]
    symbols: tuple[Symbol, ...]

    def outputs(self, arrays: Sequence[Array]) -> Values:
        """The outputs for the inputs ``arrays``, by number."""

    def eager(self, arrays: Sequence[Array]) -> Mapping[str, Array] | None:
        """The outputs of the module that the model was exported from; None where it is unknown."""

    def imported(self) -> Imported:
        """The Relax module. Raises ``ImportFault``."""

    def steps(self, arrays: Sequence[Array], names: Collection[str]) -> Values:
        """The values of the nodes ``names``, after ``imported``, which may have raised."""


@dataclass(slots=True)
class TorchSource:
    """An exported PyTorch program."""

    model: Any
    inputs: tuple[Input, ...]
    symbols: tuple[Symbol, ...]
    framework: str = "PyTorch"
    _exported: Any = field(default=None, repr=False)

    def outputs(self, arrays: Sequence[Array]) -> Values:
        """As in ``Source``."""
        from relaxcheck.harness.models.frameworks import torch

        return torch.outputs(self.model, arrays)

    def eager(self, arrays: Sequence[Array]) -> Mapping[str, Array] | None:
        """As in ``Source``."""
        from relaxcheck.harness.models.frameworks import torch

        return None if self.model.module is None else torch.eager(self.model, arrays)

    def imported(self) -> Imported:
        """As in ``Source``."""
        from relaxcheck.harness.models.frontends import torch

        try:
            recorded = torch.imported(self.model.program)
        except ImportFault as fault:
            self._exported = fault.exported
            raise
        self._exported = recorded.exported
        return recorded.imported

    def steps(self, arrays: Sequence[Array], names: Collection[str]) -> Values:
        """As in ``Source``."""
        from relaxcheck.harness.models.frameworks import torch

        return torch.steps(self.program(), arrays, names)

    def program(self) -> Any:
        """The program that TVM's importer sees: decomposed."""
        if self._exported is None:
            self._exported = self.model.program.run_decompositions()
        return self._exported


@dataclass(slots=True)
class OnnxSource:
    """An ONNX model."""

    model: onnx.ModelProto
    inputs: tuple[Input, ...]
    symbols: tuple[Symbol, ...]
    framework: str = "ONNX Runtime"

    def _feeds(self, arrays: Sequence[Array]) -> dict[str, Array]:
        return {each.name: array for each, array in zip(self.inputs, arrays, strict=True)}

    def outputs(self, arrays: Sequence[Array]) -> Values:
        """As in ``Source``."""
        from relaxcheck.harness.models.frameworks import onnx as runtime

        return runtime.values(self.model, self._feeds(arrays), ())[0]

    def eager(self, arrays: Sequence[Array]) -> Mapping[str, Array] | None:
        """As in ``Source``."""
        return None

    def imported(self) -> Imported:
        """As in ``Source``."""
        from relaxcheck.harness.models.frontends import onnx as frontend

        return frontend.imported(self.model)

    def steps(self, arrays: Sequence[Array], names: Collection[str]) -> Values:
        """As in ``Source``."""
        from relaxcheck.harness.models.frameworks import onnx as runtime

        return runtime.values(self.model, self._feeds(arrays), names)[1]


def source(name: str) -> Source:
    """The model that a user calls ``name``.

    Raises:
        ModelError: there is none, or it is not what it seems.
    """
    path = Path(name)
    if path.suffix == ".onnx":
        return _onnx(path)
    if path.suffix == ".pt2":
        return _exported(path)
    module, colon, function = name.partition(":")
    if not colon or not function.isidentifier():
        raise ModelError(
            f"{name}: give a model.onnx, an exported.pt2, or package.module:make, a function that "
            "returns (module, inputs)"
        )
    return _made(module, function)


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise ModelError(f"{path}: no such file")
    return path


def _onnx(path: Path) -> OnnxSource:
    from relaxcheck.harness.models.frameworks import onnx as runtime

    try:
        model = onnx.load(_existing(path))
        onnx.checker.check_model(model)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{path} is no valid ONNX model: {line_of(error)}") from error
    if not model.graph.output:
        raise ModelError(f"{path} is no valid ONNX model: it has no outputs")
    return OnnxSource(model, *runtime.inputs(model))


def _exported(path: Path) -> TorchSource:
    import torch

    from relaxcheck.harness.models.frameworks import torch as runtime

    if not zipfile.is_zipfile(_existing(path)):
        raise ModelError(f"{path} is no exported program: torch.export.save writes one")
    try:
        program = torch.export.load(path)
    except Exception as error:
        raise ModelError(
            f"{path} is no exported program that this PyTorch reads: torch.export.save writes one"
        ) from error
    _check_outputs(str(path), program)
    model = runtime.TorchModel(program)
    return TorchSource(model, *runtime.inputs(model))


def _made(module: str, function: str) -> TorchSource:
    import torch

    from relaxcheck.harness.models.frameworks import torch as runtime

    called = f"{module}:{function}"
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        make = getattr(importlib.import_module(module), function)
    except (Exception, SystemExit) as error:
        raise ModelError(f"{called} cannot be imported: {line_of(error)}") from error
    try:
        made = make()
    except (Exception, SystemExit) as error:
        raise ModelError(f"{called} raised {line_of(error)}") from error
    match made:
        case (torch.nn.Module() as net, tuple() as inputs):
            shapes = None
        case (torch.nn.Module() as net, tuple() as inputs, shapes):
            pass
        case _:
            raise ModelError(
                f"{called} returned {type(made).__name__}; it has to return (module, inputs) or "
                "(module, inputs, dynamic_shapes), the inputs a tuple"
            )
    net = net.eval()
    try:
        with torch.no_grad():
            program = torch.export.export(net, inputs, dynamic_shapes=shapes, strict=False)
    except Exception as error:
        raise ModelError(f"torch.export cannot export {called}: {line_of(error)}") from error
    _check_outputs(called, program)
    model = runtime.TorchModel(program, net, _names(net, shapes))
    return TorchSource(model, *runtime.inputs(model))


def _check_outputs(name: str, program: Any) -> None:
    """Raise ``ModelError`` unless ``program`` returns tensors alone."""
    for spec in program.graph_signature.output_specs:
        if type(spec.arg).__name__ == "ConstantArgument" and spec.arg.value is not None:
            raise ModelError(
                f"{name} returns {spec.arg.value!r}, which no input decides: return tensors alone"
            )


def _names(net: Any, shapes: Any) -> dict[tuple[int, int], str]:
    """The user's names of symbolic dimensions, by the number of an input and an axis."""
    if isinstance(shapes, dict):
        order = list(inspect.signature(net.forward).parameters)
        shapes = [shapes.get(name) for name in order]
    names = {}
    for number, each in enumerate(shapes or ()):
        axes = each.items() if isinstance(each, dict) else enumerate(each or ())
        for axis, dim in axes:
            name = getattr(dim, "__name__", None)
            if name is not None:
                names[number, axis] = str(name)
    return names


def user_inputs(path: Path, source: Source) -> list[Array]:
    """The inputs in the file ``path``, an ``.npz``: by name, or in order.

    Raises:
        ModelError: it cannot be read, or does not fit the model.
    """
    try:
        with np.load(_existing(path)) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{path} is no file of NumPy arrays: {line_of(error)}") from error
    wanted = [each.name for each in source.inputs]
    if len(arrays) != len(wanted):
        raise ModelError(
            f"{path} has {len(arrays)} arrays; the model has {len(wanted)}: {', '.join(wanted)}"
        )
    ordered = (
        [arrays[name] for name in wanted] if set(wanted) == set(arrays) else [*arrays.values()]
    )
    for each, array in zip(source.inputs, ordered, strict=True):
        if array.dtype != each.dtype or array.ndim != len(each.dims):
            raise ModelError(
                f"{path}: {each.name} is {array.dtype} of rank {array.ndim}; the model takes "
                f"{each.dtype} ({', '.join(map(str, each.dims))})"
            )
    return ordered


def line_of(error: BaseException) -> str:
    """The class of ``error`` and the first line that it says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]
