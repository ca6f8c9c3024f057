"""Gradients by PyTorch's own differentiation."""

from collections.abc import Callable

import torch
from torch import Tensor


def gradient(
    function: Callable[..., Tensor], of_output: Tensor, operand: Tensor, *constants: Tensor
) -> Tensor:
    """The gradient in ``operand`` of ``function(operand, *constants)``, given that ``of_output``.

    The oracle computes in inference mode, whose tensors PyTorch does not differentiate.
    """
    with torch.inference_mode(False), torch.enable_grad():
        at = operand.clone().requires_grad_()
        output = function(at, *(each.clone() for each in constants))
        (result,) = torch.autograd.grad(output, at, of_output.clone())
    return result
