"""The dtypes and shapes of the values of a program: eager PyTorch computes them."""

from typing import Any

import torch

from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.module import laid_out, module_of, run, tensor_of
from relaxcheck.generators.torch.program import DTYPES


def types_of(case: TorchCase) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The dtype and shape of each tensor of ``case`` at its first binding, by name.

    None if PyTorch does not run it.
    """
    values = arrays(case, 0)
    program = case.program
    held = {tensor.name: values[tensor.name] for tensor in program.tensors if tensor.constant}
    try:
        module: Any = module_of(program, held, case.seed, case.regime)
        known: dict[str, Any] = {
            tensor.name: laid_out(tensor_of(values[tensor.name]), tensor.layout)
            for tensor in program.tensors
        }
        with torch.no_grad():
            run(program.nodes, known, lambda name: getattr(module, name, None))
    except Exception:
        # A candidate of a reduction that PyTorch refuses has no types, and is refused later.
        return {}
    found = {}
    for name, value in known.items():
        dtype = str(value.dtype).removeprefix("torch.") if isinstance(value, torch.Tensor) else ""
        if dtype in DTYPES:
            found[name] = dtype, tuple(value.shape)
    return found
