"""Importing the program of a case by the door of TVM's that it names."""

import contextlib
import importlib.util
import io
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from tvm import relax
from tvm.relax.frontend import torch as frontend

from relaxcheck.fixes import tvm_api
from relaxcheck.generators.core.values import constants
from relaxcheck.generators.emission.dims import emitted_dim
from relaxcheck.generators.torch.case import EXPORT, FX, TorchCase
from relaxcheck.generators.torch.exporting import quiet
from relaxcheck.harness.compiling.building import Argument
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.compiling.watching import Module
from relaxcheck.harness.torch.tracing import traced

STAGE = "import"
"""The stage in which TVM's importer runs."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The Relax module of a program; ``parameters`` are its arguments behind the program's inputs.

    ``returns_tuple``: its main function returns a tuple.
    """

    module: Module
    parameters: tuple[Argument, ...]
    returns_tuple: bool


_DOORS = {EXPORT: "from_exported_program", FX: "from_fx"}
"""The functions of the frontend, by door; that of ``torch.compile`` is in a module of its own."""


def has_door(door: str) -> bool:
    """True if this release of TVM has ``door``."""
    if door in _DOORS:
        return hasattr(frontend, _DOORS[door])
    return importlib.util.find_spec(f"{frontend.__name__}.dynamo") is not None


def imported(case: TorchCase, program: ExportedProgram | None) -> Imported:
    """The module that TVM imports the program of ``case`` as: ``program``, or else by ``from_fx``.

    Raises:
        StageError: TVM raised; the stage is ``import``.
    """
    how = case.importing
    arguments = {
        "keep_params_as_input": how.keep_params,
        "unwrap_unit_return_tuple": how.unwrap,
        "no_bind_return_tuple": how.no_bind,
    }
    try:
        with _silent():
            # A fix may have replaced either since this module was imported.
            if program is None:
                module = frontend.from_fx(*_traced(case), **arguments)
            else:
                # PyTorch has decomposed it where the case says so.
                module = frontend.from_exported_program(
                    program, run_ep_decomposition=False, **arguments
                )
        parameters: Any = {}
        if how.keep_params:
            module, parameters = relax.frontend.detach_params(module)
    except Exception as error:
        raise StageError(STAGE, error) from error
    own = tuple(each.numpy() for each in parameters.get("main", ()))
    return Imported(module, own, hasattr(tvm_api.type_of(module["main"]).ret, "fields"))


def _traced(case: TorchCase) -> tuple[torch.fx.GraphModule, list[Any]]:
    """The graph of ``case``, and the shape and dtype of each of its inputs."""
    sizes = {name: tvm_api.shape_var(name) for name in case.program.symbols}
    inputs = [
        ([emitted_dim(dim, sizes) for dim in tensor.shape], tensor.dtype)
        for tensor in case.program.inputs
    ]
    return traced(case.program, constants(case), case.seed, case.regime), inputs


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Let the importer neither print nor warn."""
    with quiet(), contextlib.redirect_stdout(io.StringIO()):
        yield


_FRONTEND = "tvm/relax/frontend/torch/"


def node_at_fault(error: BaseException) -> str:
    """The function, method or layer that the importer was at when it raised ``error``.

    Of an overload of ATen it is the name without ``aten``, as in the importer's own table. Empty
    where it was at none.
    """
    for frame in _frames(error):
        node = frame.f_locals.get("node")
        if isinstance(node, torch.fx.Node) and node.op.startswith("call_"):
            return _named(node)
    return ""


def place_in_frontend(error: BaseException) -> str:
    """The innermost method of the importer in which ``error`` was raised; "" outside of it."""
    found = ""
    for frame in _frames(error):
        name = frame.f_code.co_name
        if not name.startswith("<"):
            found = f"{frame.f_code.co_filename.rpartition('/')[2]}:{name}"
    return found


def _frames(error: BaseException) -> Iterator[types.FrameType]:
    """The frames of the importer, the outermost first."""
    step = error.__traceback__
    while step is not None:
        if _FRONTEND in step.tb_frame.f_code.co_filename.replace("\\", "/"):
            yield step.tb_frame
        step = step.tb_next


def _named(node: torch.fx.Node) -> str:
    target: Any = node.target
    if node.op == "call_module":
        owner: Any = node.graph.owning_module
        layer = owner.get_submodule(str(target)) if owner is not None else None
        return type(layer).__name__ if layer is not None else str(target)
    return target if isinstance(target, str) else str(getattr(target, "__name__", target))
