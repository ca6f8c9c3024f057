"""The reference's operators that mixed precision lets follow their operands."""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate
from relaxcheck.oracles.reference.evaluation import Numerics, operator_with_numerics, same_dtype
from relaxcheck.oracles.reference.mixed_precision import following


@operator_with_numerics("add")
def _add(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    dtype = same_dtype(node, operands)
    return following(operands, numerics, lambda each: bounds.added(each[0], each[1], dtype))


@operator_with_numerics("multiply")
def _multiply(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    dtype = same_dtype(node, operands)
    return following(operands, numerics, lambda each: bounds.multiplied(each[0], each[1], dtype))


@operator_with_numerics("nn.relu")
def _relu(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    dtype = operands[0].dtype

    def rectified(each: list[Estimate]) -> Estimate:
        # No result lies beyond the larger of 0 and the operand's own upper limit. The maximum of
        # NaN and 0 is either (IEEE 754-2019, 9.6: maximum and maximumNumber).
        unconstrained = np.isnan(each[0].value) if dtype in FORMATS else np.bool_(False)
        value = np.where(unconstrained, 0, np.maximum(each[0].value, 0))
        above = np.maximum(each[0].value.astype(np.float64) + each[0].error, 0)
        error = np.where(each[0].value > 0, each[0].error, above)
        return replace(
            each[0], value=value, error=np.where(unconstrained, np.inf, error), signed=False
        )

    return following(operands, numerics, rectified)


@operator_with_numerics("permute_dims")
def _permute_dims(node: Node, operands: list[Estimate], numerics: Numerics) -> Estimate:
    axes = node.attributes.get("axes")
    if axes is not None and not isinstance(axes, tuple):
        raise ValueError(f"axes {axes!r} is not a list of integers")

    def permuted(each: list[Estimate]) -> Estimate:
        value = each[0].value.transpose(axes)
        return replace(each[0], value=value, error=each[0].error.transpose(axes))

    return following(operands, numerics, permuted)
