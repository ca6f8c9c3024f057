"""The reference's matrix product."""

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluation import Numerics, operator_with_numerics, same_dtype
from relaxcheck.oracles.reference.mixed_precision import always_narrowed, stored


@operator_with_numerics("matmul")
def _matmul(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    dtype = node.attributes.get("out_dtype") or same_dtype(node, operands)
    if not isinstance(dtype, str):
        raise ValueError(f"out_dtype {dtype!r} is not text")
    a, b = (bounds.cast(each, dtype) for each in always_narrowed(operands, numerics))
    return stored(bounds.sum_of_products(a, b, np.matmul, dtype), numerics)
