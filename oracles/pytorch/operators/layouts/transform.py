"""PyTorch's transformation of layouts: an assignment at places that are computed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from relaxcheck.generators.core.attributes import IndexMap, index_map_of
from relaxcheck.generators.core.dims import fold
from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.pytorch.source import Value, source
from relaxcheck.oracles.pytorch.tensors import Held, operator


def _shape(index_map: IndexMap, sizes: Sequence[int]) -> list[int]:
    """The result's shape: one more than the largest place, whole tiles along a remainder."""
    last = {name: size - 1 for name, size in zip(index_map.names, sizes, strict=True)}
    steps = {
        "+": lambda left, right: left + right,
        "*": lambda left, right: left * right,
        "//": lambda left, right: left // right,
        "%": lambda left, right: right - 1,
    }
    return [
        fold(result, int, last.__getitem__, lambda sign, *both: steps[sign](*both)) + 1
        for result in index_map.results
    ]


@operator("layout_transform")
def _layout_transform(node: Node, operands: list[Held]) -> Held:
    (x,), index_map = operands, index_map_of(str(node.attributes["index_map"]))
    pad: Any = node.attributes.get("pad_value") or 0
    ranges = (torch.arange(size) for size in x.tensor.shape)
    grid = dict(zip(index_map.names, torch.meshgrid(*ranges, indexing="ij"), strict=True))
    result = torch.full(_shape(index_map, x.tensor.shape), pad, dtype=x.tensor.dtype)
    result[index_map.places(grid)] = x.tensor
    return Held(result, x.dtype)


@source("layout_transform")
def _layout_transform_text(node: Node, operands: Sequence[Value], result: Value) -> list[str]:
    (x,), index_map = operands, index_map_of(str(node.attributes["index_map"]))
    pad = np.array(node.attributes.get("pad_value") or 0).astype(numpy_dtype(x.dtype)).item()
    ranges = ", ".join(f"torch.arange({size})" for size in x.shape)
    comma = "," if len(index_map.names) == 1 else ""
    return [
        f"{', '.join(index_map.names)}{comma} = torch.meshgrid({ranges}, indexing='ij')",
        f"{result.name} = torch.full({result.shape}, {pad}, dtype={x.name}.dtype)",
        f"{result.name}[{', '.join(index_map.results)}] = {x.name}",
    ]
