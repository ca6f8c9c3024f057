"""The control of PyTorch programs: PyTorch's own interpreter of the exported program.

It runs the program as it is, or each function in float64 and its results rounded, as the case's
seed chooses: both are right. A case of another door has no exported program; the module stands for
it.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from random import Random
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

from relaxcheck.generators.core.values import Array, constants
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.exporting import quiet
from relaxcheck.generators.torch.module import module_of, tensor_of
from relaxcheck.oracles.torch.exported import outputs
from relaxcheck.oracles.torch.fast_path import without_fast_path
from relaxcheck.oracles.torch.tensors import array_of
from relaxcheck.oracles.torch.widening import wider


class Rounding(TorchDispatchMode):  # type: ignore[misc]
    """Computes each function in float64, and rounds its results to the dtype that it gives.

    A function that writes in place, returns a view, or has no kernel for float64 runs as it is.
    """

    def __torch_dispatch__(
        self, operator: Any, types: Any, arguments: Any = (), keywords: Any = None
    ) -> Any:
        keywords = keywords or {}
        own = operator(*arguments, **keywords)
        if _aliases(operator):
            return own
        try:
            wide = operator(*tree_map(wider, arguments), **tree_map(wider, keywords))
        except (RuntimeError, NotImplementedError):
            return own
        leaves, structure = tree_flatten(own)
        return structure.unflatten(
            [_rounded(one, other) for one, other in zip(leaves, tree_leaves(wide), strict=True)]
        )


def _aliases(operator: Any) -> bool:
    """True if ``operator`` writes its operands, or returns memory of theirs."""
    schema = operator._schema
    values = (*schema.arguments, *schema.returns)
    return any(value.alias_info is not None for value in values)


def _rounded(own: Any, wide: Any) -> Any:
    """``wide`` in the dtype of ``own``; integers, and what follows from memory, as they are."""
    if not isinstance(own, torch.Tensor) or not own.is_floating_point():
        return own
    return wide.to(own.dtype)


WAYS: Mapping[str, type[AbstractContextManager[Any]]] = {
    "as it is": nullcontext,
    "rounded": Rounding,
}
"""The ways to run a program, each a context to run it in."""


def way_of(case: TorchCase) -> str:
    """The way in which the control runs ``case``."""
    return Random(case.seed).choice(tuple(WAYS))


class Uncontrolled(Exception):
    """The exported program cannot run where the module does: its message says why."""


def evaluate(
    case: TorchCase, program: ExportedProgram | None, arguments: Sequence[Any]
) -> tuple[Array, ...]:
    """The outputs of ``case``, exported as ``program``, for ``arguments``: its inputs, in order.

    Raises:
        Uncontrolled: PyTorch runs the module, but not what it exports.
        Exception: PyTorch's; it does not run the module.
    """
    own = arguments[: len(case.program.inputs)]
    with quiet(), torch.no_grad(), WAYS[way_of(case)]():
        if program is None:
            return _of_module(case, own)
        try:
            return outputs(program, own)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
    _of_module(case, own)
    raise Uncontrolled(f"the exported program does not run: {reason}")


def _of_module(case: TorchCase, own: Sequence[Any]) -> tuple[Array, ...]:
    module = module_of(case.program, constants(case), case.seed, case.regime)
    with quiet(), torch.no_grad(), without_fast_path():
        return tuple(map(array_of, tree_leaves(module(*map(tensor_of, own)))))
