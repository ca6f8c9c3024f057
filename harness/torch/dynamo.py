"""The door ``relax_dynamo``: TVM as a backend of ``torch.compile``, which compiles and runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from tvm.relax.frontend.torch import dynamo as frontend

from relaxcheck.generators.core.values import Array, arrays, constants
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.exporting import quiet
from relaxcheck.generators.torch.module import tensor_of
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.torch import importing
from relaxcheck.harness.torch.grouping import NotExported
from relaxcheck.harness.torch.tracing import traced
from relaxcheck.oracles.torch.answers import passed
from relaxcheck.oracles.torch.tensors import array_of

STAGE = "dynamo"
"""The stage in which the backend compiles what it imported."""


def compiled(case: TorchCase) -> Callable[..., Any]:
    """The program of ``case`` compiled by ``torch.compile``, called once at its first binding.

    It takes TVM's tensors and returns the tensors of a module that TVM compiled.

    Raises:
        StageError: TVM raised.
        NotExported: PyTorch did, before it asked TVM.
    """
    raised: list[Exception] = []
    asked: list[bool] = []

    def backend(module: torch.fx.GraphModule, examples: list[Any]) -> Callable[..., Any]:
        asked.append(True)
        try:
            # A fix may have replaced it since this module was imported.
            made = frontend.relax_dynamo()(module, examples)
        except Exception as error:
            raised.append(error)
            raise
        return _recording(made, raised)

    try:
        # No reset before it: other programs, which run later, would be compiled again then.
        module = traced(case.program, constants(case), case.seed, case.regime)
        function = torch.compile(module, backend=backend)
    except Exception as error:
        raise NotExported(f"{type(error).__name__}: {error}") from error
    first = passed(case.program, arrays(case, 0))
    try:
        _called(function, [tensor_of(each) for each in first])
    except Exception as error:
        if not raised and not asked:
            raise NotExported(f"{type(error).__name__}: {error}") from error
        cause = raised[0] if raised else error
        at_import = importing.place_in_frontend(cause).startswith(("fx_", "base_"))
        raise StageError(importing.STAGE if at_import else STAGE, cause) from error
    return lambda *tensors: _called(function, [tensor_of(each.numpy()) for each in tensors])


def _recording(made: Callable[..., Any], raised: list[Exception]) -> Callable[..., Any]:
    """``made``, whose errors are added to ``raised``: PyTorch wraps some of them."""

    def call(*inputs: Any) -> Any:
        try:
            return made(*inputs)
        except Exception as error:
            raised.append(error)
            raise

    return call


class _Result:
    """A tensor of PyTorch's, read as one of TVM's is."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    def numpy(self) -> Array:
        """The values."""
        return np.asarray(array_of(self._tensor))


def _called(function: Callable[..., Any], inputs: list[torch.Tensor]) -> Any:
    with quiet(), torch.no_grad():
        result = function(*inputs)
    several = result if isinstance(result, tuple | list) else (result,)
    return tuple(map(_Result, several))
