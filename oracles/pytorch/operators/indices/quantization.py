"""Quantization by PyTorch's arithmetic."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.pytorch.tensors import FLOATS, Held, operator


def _wide(node: Node, parameter: Tensor, rank: int) -> Tensor:
    """A scale or zero point, broadcast along the axis from the end."""
    if parameter.numel() == 1:
        return parameter.reshape(())
    axis: Any = node.attributes.get("axis", -1)
    after = rank - 1 - axis % rank
    return parameter.reshape(-1, *(1,) * after)


@operator("quantize")
def _quantize(node: Node, operands: list[Held]) -> Held:
    data, scale, zero = operands
    dtype = str(node.attributes.get("out_dtype", "int8"))
    info = np.iinfo(dtype)
    steps, start = (_wide(node, each.tensor, data.tensor.ndim) for each in (scale, zero))
    rounded = torch.round(data.tensor / steps).double()
    clipped = torch.clamp(rounded + start, info.min, info.max)
    return Held(torch.nan_to_num(clipped).to(torch.int64), dtype)


@operator("dequantize")
def _dequantize(node: Node, operands: list[Held]) -> Held:
    data, scale, zero = operands
    dtype = str(node.attributes.get("out_dtype", "float32"))
    steps, start = (_wide(node, each.tensor, data.tensor.ndim) for each in (scale, zero))
    product = (data.tensor - start).float() * steps.float()
    return Held(product.to(FLOATS[dtype]), dtype)
