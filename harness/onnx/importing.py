"""Importing the model of a case by TVM's ``from_onnx``."""

import contextlib
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tvm import relax
from tvm.relax.frontend import onnx as frontend

from relaxcheck.generators.core.values import constants
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.proto import model_proto
from relaxcheck.harness.compiling.building import Argument
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.compiling.watching import Module

STAGE = "import"
"""The stage in which TVM's importer runs."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The Relax module of a model; ``parameters`` are its arguments behind the model's inputs."""

    module: Module
    parameters: tuple[Argument, ...] = ()


def imported(case: OnnxCase) -> Imported:
    """The module that TVM imports the model of ``case`` as.

    Raises:
        StageError: TVM raised; the stage is ``import``.
    """
    model = model_proto(case.model, constants(case))
    how = case.importing
    first = case.bindings[0]
    shapes = {tensor.name: list(case.shape(tensor.name, first)) for tensor in case.model.inputs}
    try:
        module = quietly(
            model,
            shape_dict=shapes if how.shapes else None,
            opset=case.model.opset if how.opset else None,
            keep_params_in_input=how.keep_params,
            sanitize_input_names=how.sanitize,
        )
        if not how.keep_params:
            return Imported(module)
        module, parameters = relax.frontend.detach_params(module)
    except Exception as error:
        raise StageError(STAGE, error) from error
    return Imported(module, tuple(each.numpy() for each in parameters.get("main", ())))


def quietly(model: Any, **arguments: Any) -> Module:
    """The module that ``from_onnx`` makes of the protobuf ``model``, printing nothing.

    Raises:
        Exception: TVM's own.
    """
    with _quiet():
        # A fix may have replaced it since this module was imported.
        return frontend.from_onnx(model, **arguments)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Let the importer neither print nor warn: it says of every failing node what it was passed."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield
