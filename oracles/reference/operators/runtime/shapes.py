"""The reference's numbers of elements, and shapes made of tensors."""

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference.estimate import Estimate, exact
from relaxcheck.oracles.reference.evaluation import operator

_SIZES = ("int64", "int32", "int16")


@operator("size")
def _size(node: Node, operands: list[Estimate]) -> Estimate:
    return exact(np.array(operands[0].value.size, np.int64), "int64")


@operator("tensor_to_shape")
def _tensor_to_shape(node: Node, operands: list[Estimate]) -> Estimate:
    (sizes,) = operands
    if sizes.dtype not in _SIZES or sizes.value.ndim != 1:
        raise ValueError(f"{sizes.dtype} of rank {sizes.value.ndim} is no vector of sizes")
    return exact(sizes.value, "int64")
