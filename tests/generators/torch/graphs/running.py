"""Cases run by eager PyTorch, for tests of their families."""

import warnings

import msgspec
import torch
from torch.utils._pytree import tree_leaves

from relaxcheck.generators.core.values import arrays, constants
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.module import module_of, tensor_of


def outputs_of(case: TorchCase, at: int) -> list[torch.Tensor]:
    """The outputs of ``case`` at its binding ``at``. Raises PyTorch's error where it refuses it."""
    module = module_of(case.program, constants(case), case.seed, case.regime)
    values = arrays(case, at)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        results = module(*(tensor_of(values[each.name]) for each in case.program.inputs))
    return tree_leaves(results)  # type: ignore[no-any-return]


def decoded(text: bytes) -> TorchCase:
    """The case in ``text``."""
    return msgspec.json.decode(text, type=TorchCase)
